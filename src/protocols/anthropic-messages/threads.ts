// `thread` of a Messages request: decodes the member and joins the whole conversation. Source: documentation "Message
// threads" and the helpers of Anthropic's SDKs (JavaScript 1.12, Python 2.13), 2026-11.
import {
  asArray,
  asObject,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../base/json/index.ts';
import { GatewayError, Problems, type ThreadTurn } from '../../canonical/index.ts';
import type { KeptThreadTurn, ThreadCodec } from '../protocol.ts';
import { describe, requireObject, requireString } from '../members/read-member.ts';
import { messageId } from './answers/encode-envelope.ts';

/** Members that a thread keeps from its first request. Later requests omit or repeat them. */
const FIXED = ['system', 'tools'] as const;
/** Claude Code writes such a block, with changing content, into every `system`. */
const BILLING_BLOCK = 'x-anthropic-billing-header:';
/** Members below a message or tool that can contain cache breakpoints. */
const MARKED = ['content', 'source', 'tool', 'definition', 'tool_references'] as const;

export const threads: ThreadCodec = { read, join, answerId: messageId, unknown };

function read(body: JsonObject): ThreadTurn | null {
  const { thread } = body;
  if (thread === undefined || thread === null) return null;
  const problems = new Problems();
  const asked = requireObject(thread, 'thread', problems) ?? {};
  const type = requireString(asked['type'], 'thread.type', problems);
  if (type !== undefined && type !== 'create' && type !== 'continue')
    problems.add('thread.type', `must be create or continue, not ${describe(type)}`);
  const path = 'thread.previous_message_id';
  const previousId =
    type === 'continue' ? requireString(asked['previous_message_id'], path, problems) : undefined;
  problems.throwIfAny();
  const fixed = previousId === undefined ? FIXED.filter((name) => isGiven(body[name])) : [];
  return {
    previousId,
    messages: asArray(body['messages']).filter(isJsonObject),
    fixed: Object.fromEntries(fixed.map((name) => [name, body[name] ?? null])),
  };
}

function join(body: JsonObject, turns: readonly KeptThreadTurn[]): JsonObject {
  const { thread: _, system: _system, tools: _tools, messages, ...rest } = body;
  const fixed = asObject(turns[0]?.fixed);
  refuseOther(body, fixed);
  const said = turns.flatMap((turn) => [...turn.messages.map(withoutMarks), ...replyOf(turn.answer)]);
  return {
    ...rest,
    ...fixed,
    // The decoder reports a value that is not a list.
    ...(messages === undefined
      ? {}
      : { messages: isJsonArray(messages) ? [...said, ...messages] : messages }),
  };
}

/** Returns the answer as a message. Empty for an answer without content, because the API refuses an empty message. */
function replyOf(answer: JsonObject): readonly JsonObject[] {
  const content = asArray(answer['content']);
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
}

/** @throws GatewayError for members that differ from those of the thread's first request */
function refuseOther(body: JsonObject, fixed: JsonObject): void {
  const differing = FIXED.filter((name) => {
    const given = withoutBilling(body[name]);
    return isGiven(given) && textOf(given) !== textOf(withoutBilling(fixed[name]));
  });
  if (differing.length === 0) return;
  throw threadError(
    `thread: differing field(s): ${differing.join(', ')}. Leave them out, send those of the thread's first request, ` +
      'or send the full conversation with {"type": "create"}.',
    'thread_fingerprint_mismatch',
  );
}

function isGiven(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

/** Undefined if there is no other block. */
function withoutBilling(value: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonArray(value)) return value;
  const others = value.filter((block) => !String(asObject(block)['text']).startsWith(BILLING_BLOCK));
  return others.length === 0 && value.length > 0 ? undefined : others;
}

function textOf(value: JsonValue | undefined): string {
  const plain = isJsonArray(value)
    ? value.map((each) => (isJsonObject(each) ? withoutMarks(each) : each))
    : value;
  return JSON.stringify(plain ?? null);
}

/**
 * Removes cache breakpoints. They belong to their original request, and a whole conversation can have more than the API
 * accepts. Anthropic's SDKs also remove them when they resend a conversation.
 */
function withoutMarks(value: JsonObject): JsonObject {
  const { cache_control: _, ...copy } = value;
  const nested: Record<string, JsonValue> = {};
  for (const name of MARKED) {
    const inner = copy[name];
    if (isJsonArray(inner))
      nested[name] = inner.map((each) => (isJsonObject(each) ? withoutMarks(each) : each));
    else if (isJsonObject(inner)) nested[name] = withoutMarks(inner);
  }
  return { ...copy, ...nested };
}

function unknown(id: string): GatewayError {
  return threadError(
    `thread.previous_message_id: no thread was found for ${JSON.stringify(id.slice(0, 100))}. Send the full ` +
      'conversation with {"type": "create"}.',
    'thread_not_found',
  );
}

/** Error codes on which Anthropic's SDKs recover (`ThreadNotFoundError` and its siblings). */
function threadError(
  message: string,
  code: 'thread_not_found' | 'thread_fingerprint_mismatch',
): GatewayError {
  const kind = code === 'thread_not_found' ? 'not_found' : 'invalid_request';
  return new GatewayError(kind, message, { param: 'thread', details: { error_code: code } });
}
