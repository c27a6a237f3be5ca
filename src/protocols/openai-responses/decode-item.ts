// Decodes one raw output item, content part or annotation of a Responses answer. Pure functions over single nodes: the
// emitter handles order, indices and what was already streamed.
import { asNumber, asString, isJsonObject, type JsonObject } from '../../base/json/index.ts';
import type { Annotation, OpaqueReasoning, OpenItem, Source } from '../../canonical/index.ts';
import { type CallIds, callName } from '../calls/call-ids.ts';
import { citationUri } from '../content/citation-address.ts';

/**
 * Format of this protocol's opaque reasoning in decoded answers. The decoder does not know the model's family, so the
 * engine replaces it with the endpoint's own format.
 */
export const REASONING_FORMAT = 'openai-responses-v1';

export type ItemKind = 'message' | 'reasoning' | 'tool_call' | 'compaction' | 'hosted_call' | 'unknown';

/** Types of hosted items that do not end in `_call` or `_call_output`. */
const HOSTED_TYPES: ReadonlySet<string> = new Set([
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'tool_search_output',
  'program',
  'program_output',
]);

/** Documented hosted items that do end so, and that need no required members. */
const PLAIN_CALLS: ReadonlySet<string> = new Set([
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'tool_search_call',
]);

/** True for a documented hosted item, which can be rendered as text. */
export function isDocumentedHosted(type: string): boolean {
  return HOSTED_TYPES.has(type) || PLAIN_CALLS.has(type);
}

/**
 * Returns the kind of an item by its raw type. Hosted tools are recognized by the form of their name, so that new ones
 * work as well.
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
 * Returns the canonical open event of an item.
 * @param item the raw item, as far as it is known
 * @param complete false if only the item's `added` event has arrived
 * @returns undefined if the `added` event is insufficient (a call without its name, a compaction without its content):
 * open the item when it is complete
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

/** Wraps the raw node for encoders of the same protocol. */
export function sourceOf(raw: JsonObject): Source {
  return { protocol: 'openai-responses', raw };
}

/** Returns the text of a part of a message; undefined for a part without a canonical form. */
export function textOfPart(part: JsonObject): { kind: 'text' | 'refusal'; text: string } | undefined {
  const kind = part['type'] === 'refusal' ? 'refusal' : 'text';
  const text = asString(part[kind]);
  return text === undefined ? undefined : { kind, text };
}

/** True for a message in the API's own output form, which it accepts as input. */
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

/** Returns the encrypted reasoning of a finished item; undefined if absent. */
export function decodeOpaque(item: JsonObject): OpaqueReasoning | undefined {
  const data = asString(item['encrypted_content']);
  return data ? { format: REASONING_FORMAT, kind: 'encrypted', data } : undefined;
}

/** Decodes a web citation. All other annotations (files, containers) keep only their raw form. */
export function decodeAnnotation(raw: JsonObject): Annotation {
  const url = asString(raw['url']);
  if (raw['type'] !== 'url_citation' || url === undefined) return { type: 'other', source: sourceOf(raw) };
  return {
    type: 'url_citation',
    url: citationUri(url),
    title: asString(raw['title']) ?? url,
    // Some servers cite without a span (recorded from xAI): an empty one covers no text.
    start: asNumber(raw['start_index']) ?? 0,
    end: asNumber(raw['end_index']) ?? 0,
    source: sourceOf(raw),
  };
}
