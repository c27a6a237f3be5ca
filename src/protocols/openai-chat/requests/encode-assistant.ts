// Encodes one assistant turn as one message: reasoning, text and tool calls.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type {
  Item,
  MessageItem,
  Part,
  ReasoningItem,
  ToolCallItem,
  UnknownItem,
} from '../../../canonical/index.ts';
import { asArray, asString, isJsonObject } from '../../../base/json/index.ts';
import type { EncodeContext } from './encode-context.ts';
import { copyMessageMembers, copyUnknownMembers, ownRaw, messagePath } from './encode-context.ts';
import { encodeContent } from './encode-parts.ts';
import { encodeAbsentReasoning, encodeReasoningHistory } from './encode-reasoning-history.ts';
import { CALL_SHAPE } from '../member-shapes.ts';

/**
 * Returns the message for the items of one assistant turn.
 * @returns undefined if the target can express no item of the turn; each is then reported
 */
export function encodeAssistant(
  items: readonly Item[],
  context: EncodeContext,
): MutableJsonObject | undefined {
  const parts: Part[] = [];
  const calls: ToolCallItem[] = [];
  const reasoning: (ReasoningItem | UnknownItem)[] = [];
  let first: MessageItem | undefined;
  let raw: JsonObject | undefined;
  for (const item of items) {
    raw ??= item.type === 'unknown' || item.type === 'hosted_call' ? undefined : ownRaw(item.source);
    switch (item.type) {
      case 'message':
        first ??= item;
        parts.push(...item.parts);
        break;
      case 'tool_call':
        calls.push(item);
        break;
      case 'reasoning':
      case 'unknown':
        reasoning.push(item);
        break;
      case 'hosted_call':
        context.report.add(
          item.path ?? 'messages',
          'dropped',
          `Chat Completions does not support an earlier ${item.kind}`,
        );
        break;
      case 'compaction':
        context.report.add(
          item.path ?? 'messages',
          'dropped',
          'this upstream cannot read a compacted conversation',
        );
        break;
      case 'tool_result':
      case 'reference':
        break;
    }
  }
  const message: MutableJsonObject = { role: 'assistant', content: null };
  // A message with only calls has no message item, but may have had a name.
  const name = first?.name ?? asString(raw?.['name']);
  if (name !== undefined) encodeName(message, name, messagePath(items), context);
  encodeReasoningHistory(message, reasoning, context);
  if (calls.length > 0) encodeAbsentReasoning(message, messagePath(items), context);
  const thinking = asArray(message['content']);
  encodeSaid(message, parts, calls.length > 0, context);
  if (thinking.length > 0) message['content'] = [...thinking, ...partsOf(message['content'])];
  const legacy = calls.length === 1 && calls[0] ? legacyCall(calls[0], raw, context) : undefined;
  if (legacy) message['function_call'] = legacy;
  else if (calls.length > 0) {
    const raws = rawCalls(calls);
    message['tool_calls'] = calls.map((call) => encodeCall(call, raws, context));
  }
  copyMessageMembers(message, raw, items, context);
  return first || calls.length > 0 || Object.keys(message).length > 2 ? message : undefined;
}

/** Writes `name` of a message, if the target accepts one. */
export function encodeName(
  message: MutableJsonObject,
  name: string | undefined,
  path: string,
  context: EncodeContext,
): void {
  if (name === undefined) return;
  if (context.target.quirks.messageName) message['name'] = name;
  else context.report.add(`${path}.name`, 'dropped', 'the upstream does not support names on messages');
}

/**
 * Writes `content`, `refusal` and `audio`. Content is text parts or exactly one refusal (API reference, "Assistant
 * message", `content`). With text, a refusal is written to its own member.
 */
function encodeSaid(
  message: MutableJsonObject,
  parts: readonly Part[],
  hasCalls: boolean,
  context: EncodeContext,
): void {
  const asText = context.target.quirks.textContent === 'string';
  const content: Part[] = [];
  const refusals: string[] = [];
  for (const part of parts) {
    const audio = part.type === 'unknown' ? ownRaw(part.source) : undefined;
    if (part.type === 'refusal' && !asText) refusals.push(part.refusal);
    else if (part.type === 'refusal') {
      context.report.add(
        part.path ?? 'messages',
        'approximated',
        'the upstream does not support refusals: sent as text',
      );
      content.push({ type: 'text', text: part.refusal });
    } else if (audio?.['type'] === 'audio' && isJsonObject(audio['audio'])) message['audio'] = audio['audio'];
    else content.push(part);
  }
  const refusal = refusals.join('');
  if (content.length > 0) {
    message['content'] = encodeContent(content, '', context);
    if (refusal !== '') message['refusal'] = refusal;
  } else if (refusal !== '') message['content'] = [{ type: 'refusal', refusal }];
  else if (asText || !(hasCalls || message['audio'] !== undefined)) message['content'] = '';
}

/** Returns content as parts, for a message that has other parts before it. */
function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content !== 'string') return asArray(content);
  return content === '' ? [] : [{ type: 'text', text: content }];
}

/** The client's own forms of calls, by message and id. */
type RawCalls = ReadonlyMap<JsonObject, ReadonlyMap<JsonValue | undefined, JsonObject>>;

/** Built once per message, because a message can hold many calls. */
function rawCalls(calls: readonly ToolCallItem[]): RawCalls {
  const byMessage = new Map<JsonObject, Map<JsonValue | undefined, JsonObject>>();
  for (const call of calls) {
    const message = ownRaw(call.source);
    if (!message || byMessage.has(message)) continue;
    const byId = new Map<JsonValue | undefined, JsonObject>();
    for (const element of asArray(message['tool_calls']))
      if (isJsonObject(element) && !byId.has(element['id'])) byId.set(element['id'], element);
    byMessage.set(message, byId);
  }
  return byMessage;
}

function encodeCall(call: ToolCallItem, raws: RawCalls, context: EncodeContext): JsonObject {
  const id = context.callId(call.callId);
  const encoded: MutableJsonObject =
    call.kind === 'custom' && context.target.quirks.customTools
      ? { id, type: 'custom', custom: { name: call.name, input: call.arguments } }
      : { id, type: 'function', function: { name: call.name, arguments: callArguments(call) } };
  const message = ownRaw(call.source);
  const raw = message && raws.get(message)?.get(call.callId);
  if (raw) copyUnknownMembers(encoded, raw, CALL_SHAPE.known, call.path ?? 'messages', context);
  return encoded;
}

/** Custom input becomes the single argument of the function that replaces the tool. Missing arguments become `{}`. */
function callArguments(call: ToolCallItem): string {
  if (call.kind === 'custom') return JSON.stringify({ input: call.arguments });
  return call.arguments === '' ? '{}' : call.arguments;
}

/** Encodes the deprecated form, which is kept if there is no result: an element of `tool_calls` would require one. */
function legacyCall(
  call: ToolCallItem,
  raw: JsonObject | undefined,
  context: EncodeContext,
): JsonObject | undefined {
  const given = raw?.['function_call'];
  if (!isJsonObject(given) || asString(given['name']) !== call.name || context.answered.has(call.callId))
    return undefined;
  return { name: call.name, arguments: call.arguments };
}
