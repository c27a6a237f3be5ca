// `thread` of a Messages request: what it asks, and the whole conversation put together again. Source: documentation
// "Message threads" and the helpers of Anthropic's SDKs (JavaScript 1.12, Python 2.13), 2026-11.
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

/** Members that the thread keeps from its first request; later requests leave them out, or repeat them. */
const FIXED = ['system', 'tools'] as const;
/** Claude Code writes such a block into every `system`, and another one into each. */
const BILLING_BLOCK = 'x-anthropic-billing-header:';
/** Members in which marks for the cache can stand, below a message or a tool. */
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
    // A value that is no list is reported by its decoder.
    ...(messages === undefined
      ? {}
      : { messages: isJsonArray(messages) ? [...said, ...messages] : messages }),
  };
}

/** The answer as a message. None where nothing was said: the API refuses a message without content. */
function replyOf(answer: JsonObject): readonly JsonObject[] {
  const content = asArray(answer['content']);
  return content.length === 0 ? [] : [{ role: 'assistant', content }];
}

/** @throws GatewayError for members that must stay as they were at the beginning of the thread */
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

/** Undefined where no other block was there. */
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
 * The same without marks for the cache. They were meant for the request that first had them, and a whole conversation
 * can have more of them than a request may hold: Anthropic's SDKs leave them out, too, where they send it again.
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

/** Codes by which Anthropic's SDKs recover (`ThreadNotFoundError` and its siblings). */
function threadError(
  message: string,
  code: 'thread_not_found' | 'thread_fingerprint_mismatch',
): GatewayError {
  const kind = code === 'thread_not_found' ? 'not_found' : 'invalid_request';
  return new GatewayError(kind, message, { param: 'thread', details: { error_code: code } });
}
