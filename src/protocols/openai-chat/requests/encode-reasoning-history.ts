// Encodes reasoning of earlier turns in the member that the target reads. It is never sent to another family.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { type ReasoningItem, type UnknownItem, TEXTS } from '../../../canonical/index.ts';
import { asString } from '../../../base/json/index.ts';
import { PARAGRAPH } from '../../content/paragraphs.ts';
import type { EncodeContext } from './encode-context.ts';

/**
 * Writes the reasoning of one assistant turn into its message. Reasoning parts of its content come before the text.
 * @param items reasoning items, and unknown ones that may be elements of `reasoning_details`, in order
 */
export function encodeReasoningHistory(
  message: MutableJsonObject,
  items: readonly (ReasoningItem | UnknownItem)[],
  context: EncodeContext,
): void {
  const mode = context.target.quirks.reasoningReplay;
  const texts: string[] = [];
  const details: JsonObject[] = [];
  for (const item of items) {
    if (item.type === 'unknown') encodeUnknownDetail(item, details, context);
    else if (isReadable(item, context)) {
      const format = item.format ?? item.opaque?.format;
      const isOwn = format !== undefined && format === context.target.reasoningFormat;
      if (mode === 'reasoning_details' && isOwn) encodeDetails(item, format, details, context);
      else encodePlain(item, texts, context);
    }
  }
  if (details.length > 0) message['reasoning_details'] = details;
  if (texts.length === 0) return;
  if (mode === 'thinking_parts') message['content'] = texts.map(thinkingPart);
  else message[mode === 'reasoning_content' ? mode : 'reasoning'] = texts.join(PARAGRAPH);
}

function thinkingPart(text: string): JsonObject {
  return { type: 'thinking', thinking: [{ type: 'text', text }] };
}

/**
 * Writes a placeholder for missing reasoning of a turn with calls, because it was lost or belongs to another family. In
 * thinking mode, DeepSeek and Kimi refuse such a turn with missing or empty `reasoning_content`; a space is accepted
 * (NousResearch/hermes-agent pull request 17341 of 2026-04, charmbracelet/crush issue 2696 of 2026-05).
 * @param path JSON path of the message
 */
export function encodeAbsentReasoning(
  message: MutableJsonObject,
  path: string,
  context: EncodeContext,
): void {
  const { quirks, reasoning, reasoningStyle } = context.target;
  const thinks = reasoningStyle !== 'none' && reasoning.mode !== 'off';
  if (quirks.reasoningReplay !== 'reasoning_content' || !thinks || message['reasoning_content'] !== undefined)
    return;
  message['reasoning_content'] = ' ';
  context.report.add(
    `${path}.reasoning_content`,
    'defaulted',
    'the upstream requires reasoning with every call: a space is sent',
  );
}

/** False, with a report, for reasoning of another family, or if the target accepts none. */
function isReadable(item: ReasoningItem, context: EncodeContext): boolean {
  const { quirks, reasoningFormat } = context.target;
  const path = item.path ?? 'reasoning';
  if (item.format !== undefined && item.format !== reasoningFormat) {
    context.report.add(path, 'dropped', TEXTS.otherReasoning(item.format));
    return false;
  }
  if (quirks.reasoningReplay === 'none') {
    context.report.add(path, 'dropped', 'the upstream does not accept earlier reasoning');
    return false;
  }
  return true;
}

function encodePlain(item: ReasoningItem, texts: string[], context: EncodeContext): void {
  const text = item.text.length > 0 ? item.text.join('') : item.summary.join(PARAGRAPH);
  if (text !== '') texts.push(text);
  if (!item.opaque) return;
  const name = item.opaque.kind === 'signature' ? 'signature' : 'data';
  context.report.add(`${item.path ?? 'reasoning'}.${name}`, 'dropped', TEXTS.noPlace);
}

/**
 * Encodes the elements as OpenRouter sends them, each with its own index, because it requires the same order (guide
 * "Reasoning Tokens", "Preserving reasoning", 2026-08).
 */
function encodeDetails(
  item: ReasoningItem,
  format: string,
  details: JsonObject[],
  context: EncodeContext,
): void {
  const { id } = item;
  const opaque = item.opaque?.format === format ? item.opaque : undefined;
  if (item.opaque && !opaque)
    context.report.add(
      item.path ?? 'reasoning',
      'dropped',
      `this model cannot read state of the format ${item.opaque.format}`,
    );
  const signature = opaque?.kind === 'signature' ? opaque.data : undefined;
  for (const summary of item.summary)
    details.push({ type: 'reasoning.summary', summary, id, format, index: details.length });
  if (item.text.length > 0 || signature !== undefined) {
    details.push({
      type: 'reasoning.text',
      text: item.text.join(''),
      signature,
      id,
      format,
      index: details.length,
    });
  }
  if (opaque?.kind === 'encrypted')
    details.push({ type: 'reasoning.encrypted', data: opaque.data, id, format, index: details.length });
}

function encodeUnknownDetail(item: UnknownItem, details: JsonObject[], context: EncodeContext): void {
  const { protocol, raw } = item.source;
  const isDetail = protocol === 'openai-chat' && (asString(raw['type'])?.startsWith('reasoning.') ?? false);
  const format = asString(raw['format']);
  const isReadableFormat =
    format === undefined || format === 'unknown' || format === context.target.reasoningFormat;
  if (isDetail && isReadableFormat && context.target.quirks.reasoningReplay === 'reasoning_details') {
    details.push({ ...raw, index: details.length });
    return;
  }
  const type = asString(raw['type']) ?? 'unknown';
  context.report.add(
    item.path ?? 'messages',
    'dropped',
    `this upstream does not support items of type ${type}`,
  );
}
