// Encodes the conversation as Responses input items, in order. The canonical list has the same flat form. Reasoning
// that the model cannot read is dropped and reported.
import type { JsonObject } from '../../../base/json/index.ts';
import {
  type Item,
  type MessageItem,
  type ReasoningItem,
  type Report,
  type Target,
  type ToolCallItem,
  type ToolResultItem,
  TEXTS,
} from '../../../canonical/index.ts';
import { unresolvedReference } from '../../../canonical/index.ts';
import { isOwnAnswer } from '../decode-item.ts';
import { withoutMadeId } from './made-ids.ts';
import { encodeInputParts, encodeOutputParts, reportCache } from './encode-parts.ts';
import { MESSAGE_SHAPE, unknownOf } from '../member-shapes.ts';
import { placeBreakpoints } from './place-breakpoints.ts';
import type {
  WireCustomCall,
  WireCustomOutput,
  WireFunctionCall,
  WireFunctionOutput,
  WireMessage,
  WireReasoning,
} from '../wire-types.ts';

interface Encoded {
  readonly wire: JsonObject;
  readonly item: Item;
  readonly path: string;
}

/** Encodes the conversation. @throws GatewayError `unsupported` for audio */
export function encodeItems(given: readonly Item[], target: Target, report: Report): JsonObject[] {
  const items = target.quirks.cacheControl ? placeBreakpoints(given, report) : given;
  const encoded: Encoded[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (!item) continue;
    const path = item.path ?? `input[${i}]`;
    reportCache(item.cache, path, report);
    const wire = encodeItem(item, path, target, report);
    if (wire) encoded.push({ wire: withoutMadeId(wire), item, path });
  }
  const kept = withoutOrphanReasoning(encoded, report);
  return target.quirks.mergeSystem ? mergeInstructions(kept, report) : kept.map((entry) => entry.wire);
}

function encodeItem(item: Item, path: string, target: Target, report: Report): JsonObject | undefined {
  const own = item.source?.protocol === 'openai-responses' ? item.source.raw : undefined;
  switch (item.type) {
    case 'message':
      // Messages of the model are sent unchanged. Others are rewritten: their text parts may have the wrong type.
      return own && isOwnAnswer(own) && target.quirks.textContent === 'parts'
        ? own
        : encodeMessage(item, own, path, target, report);
    case 'reasoning':
      return encodeReasoning(item, own, path, target, report);
    case 'tool_call':
      return encodeCall(item, own, path, target, report);
    case 'tool_result':
      return encodeResult(item, own, path, target, report);
    case 'compaction':
      if (own) return own;
      report.add(
        path,
        'dropped',
        'a compacted conversation can be read only by the provider that created it',
      );
      return undefined;
    case 'reference':
      throw unresolvedReference(item);
    case 'hosted_call':
    case 'unknown':
      if (own) return own;
      report.add(
        path,
        'dropped',
        `only ${item.source?.protocol ?? 'the gateway'} supports this kind of item`,
      );
      return undefined;
  }
}

function encodeMessage(
  item: MessageItem,
  own: JsonObject | undefined,
  path: string,
  target: Target,
  report: Report,
): JsonObject | undefined {
  if (item.name !== undefined)
    report.add(`${path}.name`, 'dropped', 'the Responses API does not support names on messages');
  const assistant = item.role === 'assistant';
  const parts = assistant
    ? encodeOutputParts(item.parts, path, report)
    : encodeInputParts(item.parts, path, target, report);
  // An empty message is refused, and only that of a user has a meaning: it makes it the model's turn.
  if (parts.length === 0) {
    if (item.role === 'user') report.add(path, 'dropped', 'the message has no content');
    return undefined;
  }
  const instructs = item.role === 'system' || item.role === 'developer';
  const role = instructs ? instructionRole(target) : item.role;
  return {
    ...unknownOf(own, MESSAGE_SHAPE, path, target, report),
    ...({ type: 'message', role } satisfies WireMessage),
    content: contentOf(parts, target),
  };
}

/**
 * Returns the role of instructions, which are sent as developer messages at their position. The `instructions` member
 * would lose the order of several messages, and has the same rank in OpenAI's chain of command.
 */
function instructionRole(target: Target): 'system' | 'developer' {
  return target.quirks.systemRole === 'system' ? 'system' : 'developer';
}

function contentOf(parts: readonly JsonObject[], target: Target): string | readonly JsonObject[] {
  if (target.quirks.textContent !== 'string') return parts;
  return joinedTexts(parts) ?? parts;
}

/** Returns the joined text of text parts; undefined if any part is not text. */
function joinedTexts(parts: readonly JsonObject[]): string | undefined {
  let text = '';
  for (const part of parts) {
    if (typeof part['text'] !== 'string') return undefined;
    text += text === '' ? part['text'] : `\n${part['text']}`;
  }
  return text;
}

/**
 * Encodes reasoning. It is only sent to the family that created it, in encrypted form: the upstream stores nothing
 * (`store` is false), so an id alone would be unknown. Servers whose models read plain reasoning (recorded from
 * DeepSeek, 2026-08) have the quirk `reasoningReplay`. They get plain chains of thought, including those that the
 * client received as a summary, unless another family is named. A chain of thought from a Responses client is also sent
 * to self-hosted servers of unknown family, because OpenAI never shows one.
 */
function encodeReasoning(
  item: ReasoningItem,
  own: JsonObject | undefined,
  path: string,
  target: Target,
  report: Report,
): JsonObject | undefined {
  const { opaque, id } = item;
  const format = opaque?.format ?? item.format;
  const text = item.text.length > 0 ? item.text : item.summary;
  const readsPlain = target.quirks.reasoningReplay !== 'none';
  const isBrought = own !== undefined && item.text.length > 0 && target.isPrivate === true;
  const plain = !opaque && text.length > 0 && (readsPlain || isBrought);
  if ((opaque || (plain && format !== undefined)) && format !== target.reasoningFormat) {
    report.add(path, 'dropped', TEXTS.otherReasoning(format ?? 'unknown'));
    return undefined;
  }
  if (!plain && opaque?.kind !== 'encrypted') {
    report.add(path, 'dropped', 'reasoning can be sent back only in encrypted form');
    return undefined;
  }
  // If the client only received a summary, it is the chain of thought itself.
  const isChain = !opaque && item.text.length === 0;
  if (own && !isChain) return own;
  const summary = isChain ? [] : item.summary;
  const wire = {
    type: 'reasoning',
    summary: summary.map((part) => ({ type: 'summary_text' as const, text: part })),
    // With plain text, the opaque data may be only an id (recorded from DeepSeek, 2026-08).
    ...(plain || (readsPlain && item.text.length > 0)
      ? { content: text.map((part) => ({ type: 'reasoning_text' as const, text: part })) }
      : {}),
    ...(opaque ? { encrypted_content: opaque.data } : {}),
  } satisfies WireReasoning;
  return id === undefined ? wire : { ...wire, id };
}

function encodeCall(
  item: ToolCallItem,
  own: JsonObject | undefined,
  path: string,
  target: Target,
  report: Report,
): JsonObject {
  // The source of a restored call still has the form of the replacing function.
  const raw =
    own?.['type'] === `${item.kind === 'custom' ? 'custom_tool' : 'function'}_call` ? own : undefined;
  if (item.kind === 'custom') {
    if (!target.quirks.customTools) {
      report.add(
        path,
        'approximated',
        'a custom tool call is sent as a function call with one string argument',
      );
      return {
        type: 'function_call',
        call_id: item.callId,
        name: item.name,
        arguments: JSON.stringify({ input: item.arguments }),
      } satisfies WireFunctionCall;
    }
    return (
      raw ??
      ({
        type: 'custom_tool_call',
        call_id: item.callId,
        name: item.name,
        input: item.arguments,
      } satisfies WireCustomCall)
    );
  }
  // Malformed arguments are sent unchanged: the member is a string, and the model sees what it wrote.
  return (
    raw ??
    ({
      type: 'function_call',
      call_id: item.callId,
      name: item.name,
      arguments: item.arguments,
    } satisfies WireFunctionCall)
  );
}

function encodeResult(
  item: ToolResultItem,
  own: JsonObject | undefined,
  path: string,
  target: Target,
  report: Report,
): JsonObject {
  const custom = item.kind === 'custom' && target.quirks.customTools;
  if (own && (custom || item.kind === 'function')) return own;
  if (item.isError)
    report.add(
      `${path}.is_error`,
      'dropped',
      'the Responses API cannot mark a tool result as failed; its text must say so',
    );
  const output = outputOf(item, path, target, report);
  if (custom)
    return {
      ...({ type: 'custom_tool_call_output', call_id: item.callId } satisfies WireCustomOutput),
      output,
    };
  return { ...({ type: 'function_call_output', call_id: item.callId } satisfies WireFunctionOutput), output };
}

/** A single text is sent as a string, which every server accepts. Several texts, images and files are parts. */
function outputOf(
  item: ToolResultItem,
  path: string,
  target: Target,
  report: Report,
): string | readonly JsonObject[] {
  const parts = encodeInputParts(item.parts, path, target, report);
  const [only] = parts;
  if (!only) return '';
  const isMarked = only['prompt_cache_breakpoint'] !== undefined;
  if (parts.length === 1 && typeof only['text'] === 'string' && !isMarked) return only['text'];
  return contentOf(parts, target);
}

/**
 * Drops reasoning without a following item. The API requires the resulting item directly after it ("reasoning was
 * provided without its required following item"). Otherwise, a client that kept only the reasoning of a turn, or whose
 * turn was cut, would get a 400.
 */
function withoutOrphanReasoning(encoded: readonly Encoded[], report: Report): Encoded[] {
  const kept: Encoded[] = [];
  let followed = false;
  for (let i = encoded.length - 1; i >= 0; i--) {
    const entry = encoded[i];
    if (!entry) continue;
    const { item } = entry;
    if (item.type === 'reasoning') {
      if (!followed) {
        report.add(entry.path, 'dropped', 'reasoning must be followed by its output');
        continue;
      }
    } else {
      followed = item.type === 'message' ? item.role === 'assistant' : item.type !== 'tool_result';
    }
    kept.push(entry);
  }
  return kept.reverse();
}

/** Joins all instructions into the first message, for servers that accept only one. */
function mergeInstructions(encoded: readonly Encoded[], report: Report): JsonObject[] {
  const instructions = encoded.filter(isInstruction);
  const others = encoded.filter((entry) => !isInstruction(entry));
  const [first, ...later] = instructions;
  if (!first || later.length === 0) return encoded.map((entry) => entry.wire);
  const content: JsonObject[] = [];
  for (const { wire } of instructions) {
    const own = wire['content'];
    if (typeof own === 'string') content.push({ type: 'input_text', text: own });
    else content.push(...((own ?? []) as readonly JsonObject[]));
  }
  for (const entry of later)
    report.add(
      entry.path,
      'approximated',
      'this server accepts one message of instructions: joined with the first',
    );
  const text = joinedTexts(content);
  const merged = { ...first.wire, content: text === undefined ? content : [{ type: 'input_text', text }] };
  return [merged, ...others.map((entry) => entry.wire)];
}

function isInstruction(entry: Encoded): boolean {
  return entry.item.type === 'message' && (entry.item.role === 'system' || entry.item.role === 'developer');
}
