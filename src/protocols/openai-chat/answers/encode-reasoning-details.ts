// Encodes reasoning in an answer: plain text as `reasoning`, and `reasoning_details`, which clients return later.
import type { JsonObject } from '../../../base/json/index.ts';
import type { OpaqueReasoning, ReasoningItem, UnknownItem } from '../../../canonical/index.ts';
import { joinParagraphs } from '../../content/paragraphs.ts';

/**
 * Returns the details of one item: its summary, its text with the signature, or its encrypted form.
 * @param index the item's position in the turn
 */
export function encodeReasoningDetails(item: ReasoningItem, index: number): JsonObject[] {
  const { opaque, id } = item;
  const format = item.format ?? opaque?.format ?? UNKNOWN_FORMAT;
  const rest = { format, index, ...(id === undefined ? {} : { id }) };
  const summary = joinParagraphs(item.summary);
  const text = joinParagraphs(item.text);
  const signature = opaque?.kind === 'signature' ? { signature: opaque.data } : {};
  const details: JsonObject[] = [];
  if (summary) details.push({ type: 'reasoning.summary', summary, ...rest });
  if (text || opaque?.kind === 'signature')
    details.push({ type: 'reasoning.text', text, ...signature, ...rest });
  if (opaque?.kind === 'encrypted') details.push({ type: 'reasoning.encrypted', data: opaque.data, ...rest });
  return details;
}

/** Returns the fragment of a stream with a signature or encrypted data. */
export function encodeOpaqueFragment(
  opaque: OpaqueReasoning,
  index: number,
  format: string | undefined,
  id: string | undefined,
): JsonObject {
  const rest = { format: format ?? opaque.format, index, ...(id === undefined ? {} : { id }) };
  return opaque.kind === 'signature'
    ? { type: 'reasoning.text', text: '', signature: opaque.data, ...rest }
    : { type: 'reasoning.encrypted', data: opaque.data, ...rest };
}

/** Returns the readable text of an item: its summary and its text. */
export function visibleReasoning(item: ReasoningItem): string {
  return joinParagraphs([joinParagraphs(item.summary), joinParagraphs(item.text)]);
}

/** Returns a detail of unknown type that an upstream of this protocol sent; otherwise undefined. */
export function unknownDetail(item: UnknownItem): JsonObject | undefined {
  const { protocol, raw } = item.source;
  const type = raw['type'];
  return protocol === 'openai-chat' && typeof type === 'string' && type.startsWith('reasoning.')
    ? raw
    : undefined;
}

/** `format` of reasoning whose family is unknown. */
export const UNKNOWN_FORMAT = 'unknown';
