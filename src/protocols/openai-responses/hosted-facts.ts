// Work of hosted tools in the words of every protocol: what an item tells, and the item for another protocol's work.
// Knows no stream.
import { asArray, asObject, asString, isJsonObject, parseJson } from '../../canonical/index.ts';
import type { FoundPage, HostedCallItem, HostedFacts, JsonObject } from '../../canonical/index.ts';
import { citationUri } from '../citation-address.ts';

/** What an item tells as far as every protocol could; undefined for other work. */
export function readFacts(item: JsonObject): HostedFacts | undefined {
  switch (item['type']) {
    case 'web_search_call': {
      const action = asObject(item['action']);
      const type = action['type'];
      if (type !== undefined && type !== 'search') return undefined;
      const [first] = asArray(action['queries']);
      const query = asString(action['query']) ?? asString(first);
      const found = item['results'] ?? action['sources'];
      return { type: 'web_search', query, pages: asArray(found).filter(isJsonObject).map(readPage) };
    }
    case 'mcp_call': {
      const input = parseJson(asString(item['arguments']) ?? '');
      const error = item['error'] ?? null;
      return {
        type: 'mcp',
        server: asString(item['server_label']) ?? '',
        name: asString(item['name']) ?? '',
        input: isJsonObject(input) ? input : {},
        output: asString(item['output']) ?? (error === null ? '' : JSON.stringify(error)),
        isError: error !== null,
      };
    }
    case 'image_generation_call': {
      const data = asString(item['result']);
      const format = asString(item['output_format']);
      return data ? { type: 'image', data, mediaType: format && `image/${format}` } : undefined;
    }
    default:
      return undefined;
  }
}

function readPage(page: JsonObject): FoundPage {
  return {
    url: citationUri(asString(page['url']) ?? ''),
    title: asString(page['title']),
    text: asString(page['text']),
  };
}

/** True for another protocol's item that can be told here: a call, not a result that stands by itself. */
export function canTell({ facts }: Pick<HostedCallItem, 'facts'>): boolean {
  if (facts?.type !== 'web_search') return facts !== undefined;
  return facts.query !== undefined || !facts.pages;
}

const TYPES = { mcp: 'mcp_call', web_search: 'web_search_call', image: 'image_generation_call' } as const;

/** The type of the item for these facts. */
export function typeOf(facts: HostedFacts): string {
  return TYPES[facts.type];
}

/** Members of the item for another protocol's work, without an id. */
export function encodeFacts(facts: HostedFacts, status: string): JsonObject {
  const type = typeOf(facts);
  if (facts.type === 'web_search') {
    const { query = '', pages } = facts;
    const sources = pages && { sources: pages.map(({ url }) => ({ type: 'url', url })) };
    return { type, status, action: { type: 'search', query, queries: [query], ...sources } };
  }
  if (facts.type === 'image') {
    const { data, mediaType } = facts;
    // An announcement has no picture yet (API reference, "Image generation call", 2026-11).
    if (status === 'in_progress') return { type, status, result: null };
    return { type, status: 'completed', result: data, ...formatOf(mediaType) };
  }
  const { server, name, input, output = null, isError = false } = facts;
  return {
    type,
    status,
    server_label: server,
    name,
    arguments: JSON.stringify(input),
    approval_request_id: null,
    output: isError ? null : output,
    error: isError ? { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: output }] } : null,
  };
}

/** `output_format` of a picture, where it is one of those that the API knows. */
function formatOf(mediaType: string | undefined): JsonObject {
  const format = mediaType?.replace('image/', '');
  return format === 'png' || format === 'jpeg' || format === 'webp' ? { output_format: format } : {};
}
