// How one raw output item, content part or annotation of a Responses answer reads in the canonical model. Pure
// functions over single nodes: order, indices and what was already streamed are the emitter's business.
import { asNumber, asString, isJsonObject, type JsonObject } from '../../base/json/index.ts';
import type { Annotation, OpaqueReasoning, OpenItem, Source } from '../../canonical/index.ts';
import { type CallIds, callName } from '../call-ids.ts';
import { citationUri } from '../citation-address.ts';

/**
 * The format under which this protocol's opaque reasoning goes out of the decoder. The decoder does not know whose
 * models answered; the engine replaces it with the endpoint's own format.
 */
export const REASONING_FORMAT = 'openai-responses-v1';

export type ItemKind = 'message' | 'reasoning' | 'tool_call' | 'compaction' | 'hosted_call' | 'unknown';

/** Types of hosted items whose names do not end in `_call` or `_call_output`. */
const HOSTED_TYPES: ReadonlySet<string> = new Set([
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'tool_search_output',
  'program',
  'program_output',
]);

/** Hosted items of the reference whose names do end so, and of which nothing needs to be demanded. */
const PLAIN_CALLS: ReadonlySet<string> = new Set([
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'tool_search_call',
]);

/** True for a hosted item that can be told in words: the reference says what it means. */
export function isDocumentedHosted(type: string): boolean {
  return HOSTED_TYPES.has(type) || PLAIN_CALLS.has(type);
}

/**
 * Kind of an item of this raw type. Hosted tools are recognised by their name's form, so that a tool which is
 * younger than this code survives as what it is.
 */
export function kindOfItem(type: string): ItemKind {
  switch (type) {
    case 'message':
    case 'reasoning':
    case 'compaction':
      return type;
    case 'function_call':
    case 'custom_tool_call':
      return 'tool_call';
    default:
      return type.endsWith('_call') || type.endsWith('_call_output') || HOSTED_TYPES.has(type)
        ? 'hosted_call'
        : 'unknown';
  }
}

/**
 * The canonical beginning of an item.
 * @param item the raw item as far as it is known
 * @param complete false while only the item's announcement has arrived
 * @returns undefined when the announcement does not hold enough (a call without its name, a compaction without its
 *   content): open it when it is complete
 */
export function decodeOpen(item: JsonObject, complete: boolean, ids: CallIds): OpenItem | undefined {
  const type = asString(item['type']) ?? '';
  const id = asString(item['id']);
  switch (kindOfItem(type)) {
    case 'message':
      return { type: 'message', id };
    case 'reasoning':
      return { type: 'reasoning', id, format: REASONING_FORMAT };
    case 'tool_call': {
      const name = asString(item['name']);
      const namespace = asString(item['namespace']);
      if (!name && !complete) return undefined;
      return {
        type: 'tool_call',
        kind: type === 'custom_tool_call' ? 'custom' : 'function',
        id,
        callId: ids.take(asString(item['call_id']) || id),
        name: callName(name),
        ...(namespace ? { namespace } : {}),
      };
    }
    case 'compaction': {
      const encrypted = asString(item['encrypted_content']);
      if (!complete) return undefined;
      return encrypted === undefined
        ? { type: 'unknown', source: sourceOf(item) }
        : { type: 'compaction', id, encrypted };
    }
    case 'hosted_call':
      return { type: 'hosted_call', kind: type, id, source: sourceOf(item) };
    case 'unknown':
      return complete ? { type: 'unknown', source: sourceOf(item) } : undefined;
  }
}

/** The raw node, for encoders of the same protocol. */
export function sourceOf(raw: JsonObject): Source {
  return { protocol: 'openai-responses', raw };
}

/** True for a message in the form in which the API itself gave it, which it takes back. */
export function isOwnAnswer({ id, type, role, content }: JsonObject): boolean {
  return (
    role === 'assistant' &&
    typeof id === 'string' &&
    type === 'message' &&
    Array.isArray(content) &&
    content.every(
      (part) => isJsonObject(part) && (part['type'] === 'output_text' || part['type'] === 'refusal'),
    )
  );
}

/** Encrypted reasoning of a finished item; undefined when it was not asked for or not given. */
export function decodeOpaque(item: JsonObject): OpaqueReasoning | undefined {
  const data = asString(item['encrypted_content']);
  return data ? { format: REASONING_FORMAT, kind: 'encrypted', data } : undefined;
}

/** A citation of a web page in canonical form; every other annotation (files, containers) in its raw form. */
export function decodeAnnotation(raw: JsonObject): Annotation {
  const url = asString(raw['url']);
  if (raw['type'] !== 'url_citation' || url === undefined) return { type: 'other', source: sourceOf(raw) };
  return {
    type: 'url_citation',
    url: citationUri(url),
    title: asString(raw['title']) ?? url,
    // Some servers cite without a span (recorded from xAI): an empty one at the beginning claims no text.
    start: asNumber(raw['start_index']) ?? 0,
    end: asNumber(raw['end_index']) ?? 0,
    source: sourceOf(raw),
  };
}
