// One assistant turn as one message: reasoning, text and tool calls. Owns how a turn is put together; must not
// know how turns are found.
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
 * The message for the items of one assistant turn.
 * @returns undefined when nothing of the turn can be said to this target; the report then has each item
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
          `an earlier ${item.kind} has no place in Chat Completions`,
        );
        break;
      case 'compaction':
        context.report.add(
          item.path ?? 'messages',
          'dropped',
          'a compacted conversation cannot be read by this upstream',
        );
        break;
      case 'tool_result':
      case 'reference':
        break;
    }
  }
  const message: MutableJsonObject = { role: 'assistant', content: null };
  // A message of calls alone has no message item, yet may have had a name.
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

/** `name` of a message, where the target takes one. */
export function encodeName(
  message: MutableJsonObject,
  name: string | undefined,
  path: string,
  context: EncodeContext,
): void {
  if (name === undefined) return;
  if (context.target.quirks.messageName) message['name'] = name;
  else context.report.add(`${path}.name`, 'dropped', 'the upstream takes no names on messages');
}

/**
 * `content`, `refusal` and `audio`. A message holds text parts or exactly one refusal (API reference,
 * "Assistant message", `content`); beside text a refusal has its own member.
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
        'the upstream knows no refusals: sent as text',
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

/** Content as parts, for a message that has others before it. */
function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content !== 'string') return asArray(content);
  return content === '' ? [] : [{ type: 'text', text: content }];
}

/** The client's own forms of calls, by message and id. */
type RawCalls = ReadonlyMap<JsonObject, ReadonlyMap<JsonValue | undefined, JsonObject>>;

/** Read once per message: it may hold as many calls as the body has room for. */
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

/** Custom input rides in the one argument of the function that stands for the tool; no arguments are an empty object. */
function callArguments(call: ToolCallItem): string {
  if (call.kind === 'custom') return JSON.stringify({ input: call.arguments });
  return call.arguments === '' ? '{}' : call.arguments;
}

/** The deprecated form, kept where it has no result: as an element of `tool_calls` it would demand one. */
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
