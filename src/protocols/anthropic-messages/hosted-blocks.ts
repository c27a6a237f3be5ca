// Encodes hosted tool work of other vendors as blocks, one for the call and one for its result. Their ids carry a mark,
// because Anthropic would refuse these blocks when they return.
import { asArray, asObject, asString, isJsonObject } from '../../base/json/index.ts';
import { mcpFunctionName } from '../../canonical/index.ts';
import { citationUri } from '../content/citation-address.ts';
import type { AnswerContext } from '../protocol.ts';
import { DIRECT } from './answers/encode-blocks.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { FoundPage, HostedFacts, Item, Part } from '../../canonical/index.ts';

/** Anthropic's own ids are `srvtoolu_` or `mcptoolu_` followed by random letters. */
const FOREIGN_SEARCH = 'srvtoolu_dragoman_';
const FOREIGN_MCP = 'mcptoolu_dragoman_';
const FOREIGN_TOOL = 'srvtoolu_dragoman_tool_';
/** Suffix of the types of tool results. */
const RESULT = '_tool_result';
const FOREIGN_CONTENT = 'dragoman.';

/** True for the id of a block that the gateway wrote for another vendor's work. */
export function isForeignWork(id: string): boolean {
  return id.startsWith(FOREIGN_SEARCH) || id.startsWith(FOREIGN_MCP);
}

/**
 * Returns an id for the blocks of another vendor's work. It is created where the upstream sends none, because ids in a
 * conversation must be unique.
 */
export function foreignId(item: object, index: number, answer: Pick<AnswerContext, 'id'>): string {
  return 'id' in item && typeof item.id === 'string' ? item.id : `${answer.id}_${index}`;
}

/** Reads the work in one of Claude's own blocks in canonical form; undefined for other work. */
export function readFacts(block: JsonObject): HostedFacts | undefined {
  switch (block['type']) {
    case 'server_tool_use': {
      const { query, url } = asObject(block['input']);
      if (block['name'] === 'web_search') return { type: 'web_search', query: asString(query) };
      if (block['name'] !== 'web_fetch') return undefined;
      // A streamed block begins without its input.
      return { type: 'web_page', url: typeof url === 'string' ? citationUri(url) : '', isRead: true };
    }
    case 'web_search_tool_result': {
      const content = block['content'];
      if (!Array.isArray(content)) return undefined;
      return { type: 'web_search', pages: content.filter(isJsonObject).map(readPage) };
    }
    default:
      return undefined;
  }
}

/** True for a result that is an error (documentation "Web search tool" and "Web fetch tool", "Errors", 2026-11). */
export function isFailedWork({ content }: JsonObject): boolean {
  return asString(asObject(content)['type'])?.endsWith(`${RESULT}_error`) === true;
}

function readPage(result: JsonObject): FoundPage {
  const { title, page_age: age } = result;
  return {
    url: citationUri(asString(result['url']) ?? ''),
    title: asString(title),
    ...(typeof age === 'string' && age !== '' ? { age } : {}),
  };
}

/**
 * Returns the blocks for another vendor's work; empty for images and approval requests, which Claude's answers never
 * contain.
 * @param id of the item; the two blocks refer to each other by it
 */
export function encodeFacts(facts: HostedFacts, id: string): readonly JsonObject[] {
  const tail = id.replace(/\W/g, '_');
  if (facts.type === 'web_search') {
    const use = FOREIGN_SEARCH + tail;
    const { query = '', pages = [], isError = false } = facts;
    const content = isError ? SEARCH_ERROR : pages.map(encodePage);
    return [
      { type: 'server_tool_use', id: use, name: 'web_search', input: { query }, caller: DIRECT },
      { type: 'web_search_tool_result', tool_use_id: use, content, caller: DIRECT },
    ];
  }
  if (facts.type === 'tool') {
    const use = FOREIGN_TOOL + tail;
    const { name, output = '' } = facts;
    return [
      { type: 'server_tool_use', id: use, name, input: facts.input, caller: DIRECT },
      { type: `${name}${RESULT}`, tool_use_id: use, content: output, caller: DIRECT },
    ];
  }
  if (facts.type !== 'mcp') return [];
  const use = FOREIGN_MCP + tail;
  const { server, name, input, output = '', isError = false } = facts;
  return [
    { type: 'mcp_tool_use', id: use, name, server_name: server, input },
    {
      type: 'mcp_tool_result',
      tool_use_id: use,
      is_error: isError,
      content: [{ type: 'text', text: output }],
    },
  ];
}

/** Documentation "Web search tool", "Errors" (2026-11). */
const SEARCH_ERROR: JsonObject = { type: 'web_search_tool_result_error', error_code: 'unavailable' };

/** Encodes a page. Clients return `encrypted_content` unchanged, and the model reads it. */
function encodePage({
  url,
  title,
  text = '',
  age = null,
}: Omit<FoundPage, 'age'> & { age?: string | null | undefined }): JsonObject {
  const hidden = FOREIGN_CONTENT + text;
  return { type: 'web_search_result', url, title: title || url, encrypted_content: hidden, page_age: age };
}

const FAILED_SEARCH: Part = { type: 'text', text: 'The search failed.' };

/** Decodes a block that `encodeFacts` wrote into a call or its result, which a model of any family can read. */
export function decodeForeign(block: JsonObject, path: string): Item | undefined {
  const id = asString(block['id']) ?? asString(block['tool_use_id']) ?? '';
  if (!isForeignWork(id)) return undefined;
  const base = { kind: 'function', callId: callIdOf(id), path } as const;
  switch (block['type']) {
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const own = asString(block['name']) ?? '';
      const server = asString(block['server_name']);
      // The name that the model saw, because signed reasoning refers to the call by it.
      const name = server === undefined ? own : mcpFunctionName(server, own);
      return { ...base, type: 'tool_call', name, arguments: JSON.stringify(block['input'] ?? {}) };
    }
    case 'web_search_tool_result': {
      const { content } = block;
      const isError = isJsonObject(content);
      const parts = isError ? [FAILED_SEARCH] : [textOf(asArray(content).filter(isJsonObject))];
      return { ...base, type: 'tool_result', parts, isError };
    }
    case 'mcp_tool_result': {
      const texts = asArray(block['content']).map((part) => asString(asObject(part)['text']) ?? '');
      const parts: Part[] = [{ type: 'text', text: texts.join('\n') }];
      return { ...base, type: 'tool_result', parts, isError: block['is_error'] === true };
    }
    default: {
      const { type, content } = block;
      if (typeof type !== 'string' || !type.endsWith(RESULT)) return undefined;
      return { ...base, type: 'tool_result', parts: [{ type: 'text', text: asString(content) ?? '' }] };
    }
  }
}

/**
 * Returns the id without the mark. OpenAI's upstreams accept at most 40 characters (error of Chat Completions,
 * 2026-11).
 */
function callIdOf(id: string): string {
  const mark = id.startsWith(FOREIGN_SEARCH) ? FOREIGN_SEARCH : FOREIGN_MCP;
  return `call_${id.slice(mark.length)}`.slice(0, 40);
}

function textOf(pages: readonly JsonObject[]): Part {
  const list = pages.map((page) => {
    const hidden = asString(page['encrypted_content']) ?? '';
    const text = hidden.startsWith(FOREIGN_CONTENT) ? hidden.slice(FOREIGN_CONTENT.length) : '';
    return [page['title'], page['url'], text].filter((line) => line !== '' && line !== undefined).join('\n');
  });
  return { type: 'text', text: list.join('\n\n') || 'Nothing was found.' };
}
