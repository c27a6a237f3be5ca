// Converts hosted tool work between output items and the canonical form, also for work of other protocols.
import { asArray, asObject, asString, isJsonObject, parseJson } from '../../base/json/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type {
  FoundPage,
  HostedCallItem,
  HostedFacts,
  McpCallFacts,
  McpOffer,
} from '../../canonical/index.ts';
import { citationUri } from '../content/citation-address.ts';
import type { ItemStatus } from './answers/encode-output-item.ts';

/** Reads the work in an item in canonical form; undefined for other work. */
export function readFacts(item: JsonObject): HostedFacts | undefined {
  const text = (name: string): string => asString(item[name]) ?? '';
  switch (item['type']) {
    case 'web_search_call':
      return readSearch(item);
    case 'mcp_call':
      return readCall(item);
    case 'mcp_list_tools': {
      const error = item['error'] ?? null;
      const tools = asArray(item['tools']).filter(isJsonObject).map(readOffer);
      return {
        type: 'mcp_tools',
        server: text('server_label'),
        tools,
        ...(error === null ? {} : { error: wordsOf(error) }),
      };
    }
    case 'mcp_approval_request':
      return {
        type: 'mcp_question',
        server: text('server_label'),
        name: text('name'),
        arguments: text('arguments'),
      };
    case 'mcp_approval_response':
      return {
        type: 'mcp_answer',
        questionId: text('approval_request_id'),
        isAllowed: item['approve'] === true,
        reason: asString(item['reason']),
      };
    case 'image_generation_call': {
      const data = asString(item['result']);
      const format = asString(item['output_format']);
      const revisedPrompt = asString(item['revised_prompt']);
      const revised = revisedPrompt === undefined ? {} : { revisedPrompt };
      return data ? { type: 'image', data, mediaType: format && `image/${format}`, ...revised } : undefined;
    }
    default:
      return readOther(item);
  }
}

function readSearch(item: JsonObject): HostedFacts {
  const action = asObject(item['action']);
  const isError = item['status'] === 'failed' ? { isError: true } : {};
  const url = asString(action['url']) ?? '';
  switch (action['type']) {
    case 'open_page':
      return { type: 'web_page', url, ...isError };
    case 'find_in_page':
      return { type: 'web_page', url, pattern: asString(action['pattern']) ?? '', ...isError };
    default: {
      const [first] = asArray(action['queries']);
      const query = asString(action['query']) ?? asString(first);
      const found = item['results'] ?? action['sources'];
      const pages = found === undefined ? {} : { pages: asArray(found).filter(isJsonObject).map(readPage) };
      return { type: 'web_search', query, ...pages, ...isError };
    }
  }
}

function readPage(page: JsonObject): FoundPage {
  return {
    url: citationUri(asString(page['url']) ?? ''),
    title: asString(page['title']),
    text: asString(page['text']),
  };
}

function readCall(item: JsonObject): McpCallFacts {
  const written = asString(item['arguments']) ?? '';
  const input = parseJson(written);
  const error = item['error'] ?? null;
  const questionId = asString(item['approval_request_id']);
  return {
    type: 'mcp',
    server: asString(item['server_label']) ?? '',
    name: asString(item['name']) ?? '',
    input: isJsonObject(input) ? input : {},
    arguments: written,
    output: error === null ? (asString(item['output']) ?? '') : wordsOf(error),
    isError: error !== null,
    ...(questionId === undefined ? {} : { questionId }),
  };
}

function readOffer(tool: JsonObject): McpOffer {
  const { input_schema: schema, annotations } = tool;
  return {
    name: asString(tool['name']) ?? '',
    description: asString(tool['description']) ?? null,
    inputSchema: isJsonObject(schema) ? schema : {},
    annotations: isJsonObject(annotations) ? annotations : null,
  };
}

/** Reads work of a gateway tool without a form of its own, as `encodeFacts` writes it. */
function readOther(item: JsonObject): HostedFacts | undefined {
  const { name, input, output, error = null } = item;
  if (typeof name !== 'string' || item['type'] !== `${name}_call` || !isJsonObject(input)) return undefined;
  return { type: 'tool', name, input, output: asString(output), isError: error !== null };
}

function wordsOf(error: NonNullable<JsonObject[string]>): string {
  return typeof error === 'string' ? error : JSON.stringify(error);
}

/** True for work that can be encoded without a raw form of this protocol. A search result without its call cannot. */
export function canEncode({ facts }: Pick<HostedCallItem, 'facts'>): boolean {
  if (facts?.type !== 'web_search') return facts !== undefined;
  return facts.query !== undefined || !facts.pages;
}

/** Returns the type of the item for these facts. */
export function typeOf(facts: HostedFacts): string {
  switch (facts.type) {
    case 'web_search':
    case 'web_page':
      return 'web_search_call';
    case 'mcp':
      return 'mcp_call';
    case 'mcp_tools':
      return 'mcp_list_tools';
    case 'mcp_question':
      return 'mcp_approval_request';
    case 'mcp_answer':
      return 'mcp_approval_response';
    case 'image':
      return 'image_generation_call';
    case 'tool':
      return `${facts.name}_call`;
  }
}

/** Returns the members of an item for work without a raw form of this protocol, except its id. */
export function encodeFacts(facts: HostedFacts, status: ItemStatus): JsonObject {
  const type = typeOf(facts);
  switch (facts.type) {
    case 'web_search': {
      const { query = '', pages, isError = false } = facts;
      const sources = pages && { sources: pages.map(({ url }) => ({ type: 'url', url })) };
      const action = { type: 'search', query, queries: [query], ...sources };
      const isOver = pages !== undefined || isError;
      // Results are only listed if the text of every page is known, because a later turn reads them.
      const isReported = pages?.every(({ text }) => text !== undefined) === true;
      const results = isReported ? { results: pages.map(encodePage) } : {};
      return { type, status: endOf(status, isOver, isError), action, ...results };
    }
    case 'web_page': {
      const { url, pattern, isRead = false, isError = false } = facts;
      const action =
        pattern === undefined ? { type: 'open_page', url } : { type: 'find_in_page', url, pattern };
      return { type, status: endOf(status, isRead || isError, isError), action };
    }
    case 'image': {
      const { data, mediaType, revisedPrompt } = facts;
      // An `added` event has no image yet (API reference, "Image generation call", 2026-11).
      if (status === 'in_progress') return { type, status, result: null };
      const revised = revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt };
      return { type, status: 'completed', result: data, ...formatOf(mediaType), ...revised };
    }
    case 'mcp':
      return { type, ...encodeCall(facts, status) };
    case 'mcp_tools': {
      const tools = facts.tools.map(({ name, description, inputSchema, annotations }) => {
        return { name, description, input_schema: inputSchema, annotations };
      });
      return { type, server_label: facts.server, tools, error: facts.error ?? null };
    }
    case 'mcp_question':
      return { type, server_label: facts.server, name: facts.name, arguments: facts.arguments };
    case 'mcp_answer': {
      const { questionId, isAllowed, reason = null } = facts;
      return { type, approval_request_id: questionId, approve: isAllowed, reason };
    }
    case 'tool': {
      const { name, input, output, isError = false } = facts;
      const said = { output: isError ? null : (output ?? null), error: isError ? (output ?? '') : null };
      return { type, status: endOf(status, output !== undefined, isError), name, input, ...said };
    }
  }
}

/** Returns the status of work. Work that was unfinished when the answer ended has failed. */
function endOf(status: ItemStatus, isOver: boolean, isError: boolean): string {
  if (status === 'in_progress') return status;
  return isError || (status === 'incomplete' && !isOver) ? 'failed' : 'completed';
}

function encodePage({ url, title = '', text = '' }: FoundPage): JsonObject {
  return { url, title, text };
}

function encodeCall(facts: McpCallFacts, status: ItemStatus): JsonObject {
  const { server, name, input, output, questionId = null, isError = false, isCut = false } = facts;
  return {
    status: isCut ? 'incomplete' : endOf(status, output !== undefined, isError),
    server_label: server,
    name,
    arguments: facts.arguments ?? JSON.stringify(input),
    approval_request_id: questionId,
    output: isError ? null : (output ?? null),
    error: isError ? errorOf(facts) : null,
  };
}

/** JSON-RPC 2.0, section 5.1: "Internal error", used for errors without a code. */
const INTERNAL_ERROR = -32603;

/** Encodes an error as `McpToolCallError` of OpenAI's API description, 2026-11. */
function errorOf({ failure, output }: McpCallFacts): JsonObject {
  if (failure && 'message' in failure)
    return { type: 'mcp_protocol_error', code: INTERNAL_ERROR, message: failure.message };
  const texts = failure?.texts ?? [output ?? ''];
  return { type: 'mcp_tool_execution_error', content: texts.map((text) => ({ type: 'text', text })) };
}

/** Returns `output_format` of an image, if the API has its format. */
function formatOf(mediaType: string | undefined): JsonObject {
  const format = mediaType?.replace('image/', '');
  return format === 'png' || format === 'jpeg' || format === 'webp' ? { output_format: format } : {};
}
