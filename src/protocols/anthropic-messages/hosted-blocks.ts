// Work of tools that somebody else ran, as blocks: a call and its result, each in a block of its own. Owns the mark by
// which blocks that the gateway wrote for another's work are known again: Anthropic would refuse them.
import { asArray, asObject, asString, isJsonObject } from '../../base/json/index.ts';
import { mcpFunctionName } from '../../canonical/index.ts';
import { citationUri } from '../citation-address.ts';
import type { AnswerContext } from '../protocol.ts';
import { DIRECT } from './answers/encode-blocks.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { FoundPage, HostedFacts, Item, Part } from '../../canonical/index.ts';

/** Ids of Anthropic's own blocks are `srvtoolu_` or `mcptoolu_` and random letters. */
const FOREIGN_SEARCH = 'srvtoolu_dragoman_';
const FOREIGN_MCP = 'mcptoolu_dragoman_';
const FOREIGN_TOOL = 'srvtoolu_dragoman_tool_';
/** How types of results of tools end. */
const RESULT = '_tool_result';
const FOREIGN_CONTENT = 'dragoman.';

/** True for the id of a block that the gateway wrote for another's work. */
export function isForeignWork(id: string): boolean {
  return id.startsWith(FOREIGN_SEARCH) || id.startsWith(FOREIGN_MCP);
}

/**
 * An id for the blocks of an item of another's work. Not every upstream names its work, and a conversation must have no
 * id twice.
 */
export function foreignId(item: object, index: number, answer: Pick<AnswerContext, 'id'>): string {
  return 'id' in item && typeof item.id === 'string' ? item.id : `${answer.id}_${index}`;
}

/** Work that one of Claude's own blocks reports, as far as every protocol could; undefined for other work. */
export function readFacts(block: JsonObject): HostedFacts | undefined {
  switch (block['type']) {
    case 'server_tool_use':
      if (block['name'] !== 'web_search') return undefined;
      return { type: 'web_search', query: asString(asObject(block['input'])['query']) };
    case 'web_search_tool_result': {
      const content = block['content'];
      if (!Array.isArray(content)) return undefined;
      return { type: 'web_search', pages: content.filter(isJsonObject).map(readPage) };
    }
    default:
      return undefined;
  }
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
 * The blocks of another's work; none for what an answer of Claude's never has: pictures, and questions to a person.
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

/** `encrypted_content` is what the model reads of a page; clients give it back as it is. */
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

/** A block that `encodeFacts` wrote, as a model of any family reads it: a call, or its result. */
export function decodeForeign(block: JsonObject, path: string): Item | undefined {
  const id = asString(block['id']) ?? asString(block['tool_use_id']) ?? '';
  if (!isForeignWork(id)) return undefined;
  const base = { kind: 'function', callId: callIdOf(id), path } as const;
  switch (block['type']) {
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const own = asString(block['name']) ?? '';
      const server = asString(block['server_name']);
      // As the model saw it: what it signed names the call so.
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

/** Id without the mark: OpenAI's upstreams take no more than 40 characters (error of Chat Completions, 2026-11). */
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
