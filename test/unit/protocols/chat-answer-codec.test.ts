// Answers of Chat Completions: a stream says the same as a whole answer, what was sent can be sent back, and both
// fit OpenAI's own schema.
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Ajv from 'ajv';
import fc from 'fast-check';
import OpenAI from 'openai';
import { Collector, GatewayError } from '../../../src/canonical/index.ts';
import type { JsonObject, JsonValue } from '../../../src/base/json/index.ts';
import type { CanonicalEvent, CanonicalRequest } from '../../../src/canonical/index.ts';
import { openaiChat } from '../../../src/protocols/openai-chat/index.ts';
import type { AnswerContext } from '../../../src/protocols/protocol.ts';
import { toEvents, turns, visibleOrder } from './chat-turns.ts';
import type { Turn } from './chat-turns.ts';
import { fillRequest } from '../../support/golden-operations.ts';
import { casesOf } from '../../support/share.ts';

const { decodeRequest, encodeError, encodeResponse, encodeStream } = openaiChat.server;

describe('encodeStream', () => {
  test('has the same content as encodeResponse', () => {
    fc.assert(
      fc.property(turns(), fc.boolean(), fc.boolean(), (turn, exclude, logprobs) => {
        const events = toEvents(turn);
        const context = answerContext({ reasoning: { exclude }, logprobs, streamUsage: true });
        const whole = asWhole(encodeResponse(collect(events), context));
        expect(asWhole(joinChunks(stream(events, context)))).toEqual(whole);
      }),
      { numRuns: casesOf(500) },
    );
  });

  test('writes nothing before content and ends once', () => {
    fc.assert(
      fc.property(turns(), (turn) => {
        const events = toEvents(turn);
        const context = answerContext({});
        const frames = stream([...events, ...events], context);
        expect(frames.at(-1)).toBe('[DONE]');
        const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame) as Chunk);
        expect(chunks.every((chunk) => chunk.choices.length === 1 && chunk.id === context.id)).toBe(true);
        expect(chunks.filter((chunk) => chunk.choices[0]?.finish_reason !== null)).toHaveLength(1);
        expect(chunks.map((chunk) => chunk.choices[0]?.delta['role'])).toEqual(
          chunks.map((_, index) => (index === 0 ? 'assistant' : undefined)),
        );
        const silent = events.filter((event) => event.type === 'start' || isOpenOfText(event));
        expect(stream(silent, context)).toEqual([]);
      }),
    );
  });

  test('items are returned in the order in which they were sent', () => {
    fc.assert(
      fc.property(turns(), (turn) => {
        const whole = encodeResponse(collect(toEvents(turn)), answerContext({}));
        const message = firstChoice(whole)['message'];
        const expected = visibleOrder(turn);
        if (expected.length === 0 || !message) return;
        const body = { model: 'm', messages: [{ role: 'user', content: 'q' }, message] };
        const items = decodeRequest(body).items.slice(1);
        expect(
          items.map((item) => (item.type === 'reasoning' ? (item.opaque?.data ?? 'open') : 'other')),
        ).toEqual(expected);
      }),
      { numRuns: casesOf(500) },
    );
  });
});

describe('the official OpenAI SDK', () => {
  test('puts a stream of text, reasoning and parallel calls together', async () => {
    const turn: Turn = {
      reason: 'stop',
      items: [
        { type: 'reasoning', kind: 'text', parts: [['think']], opaque: 'signature' },
        { type: 'message', parts: [{ kind: 'text', texts: ['He', 'llo'] }] },
        { type: 'call', kind: 'function', texts: ['{"a"', ':1}'] },
        { type: 'call', kind: 'function', texts: ['{"b"', ':2}'] },
      ],
    };
    const client = sdkReading(toEvents(turn));
    const runner = client.chat.completions.stream({ model: 'm', messages: [] });
    const { choices, usage } = await runner.finalChatCompletion();
    expect(choices[0]?.message.content).toBe('Hello');
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    const calls = choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.arguments)).toEqual([
      '{"a":1}',
      '{"b":2}',
    ]);
    expect(usage?.prompt_tokens).toBe(3);
  });

  test('throws on an error in the middle of a stream', async () => {
    const events = toEvents({
      reason: 'stop',
      items: [{ type: 'message', parts: [{ kind: 'text', texts: ['Hal'] }] }],
    });
    const error = new GatewayError('upstream_unavailable', 'the upstream closed the stream');
    const cut: CanonicalEvent[] = [...events.slice(0, -2), { type: 'error', error }];
    const chunks = await sdkReading(cut).chat.completions.create({ model: 'm', messages: [], stream: true });
    const seen: string[] = [];
    let message = '';
    try {
      for await (const chunk of chunks) seen.push(chunk.choices[0]?.delta.content ?? '');
    } catch (thrown) {
      message = String(thrown);
    }
    expect(message).toContain('the upstream closed the stream');
    expect(seen.join('')).toBe('Hal');
  });
});

test('a prompt that is too long has the one code that clients look for', () => {
  const error = new GatewayError('context_overflow', 'too long', { code: 'invalid_request_error' });
  expect(encodeError(error, 'req').body).toMatchObject({ error: { code: 'context_length_exceeded' } });
});

const schemaFile = join(import.meta.dir, '../../../../shared/recordings/schemas/openai-openapi.json.gz');
describe.skipIf(!existsSync(schemaFile))(
  "OpenAI's schema (skipped where the recordings are not beside the repository)",
  () => {
    test('answers, chunks and errors fit it', () => {
      const ajv = new Ajv({ strict: false, validateFormats: false });
      ajv.addSchema(readSchema(), 'openai');
      const fits = (name: string, value: unknown): void => {
        const validate = ajv.getSchema(`openai#/components/schemas/${name}`);
        expect(validate?.(value) === true ? [] : [validate?.errors ?? 'no such schema', value]).toEqual([]);
      };
      fc.assert(
        fc.property(turns(['function']), (turn) => {
          const events = toEvents(turn);
          const context = answerContext({ streamUsage: true, logprobs: true });
          fits('CreateChatCompletionResponse', encodeResponse(collect(events), context));
          for (const frame of stream(events, context).slice(0, -1)) {
            fits('CreateChatCompletionStreamResponse', JSON.parse(frame));
          }
        }),
        { numRuns: 60 },
      );
      fits('ErrorResponse', encodeError(new GatewayError('internal', 'x'), 'req').body);
    });
  },
);

/**
 * The document writes `nullable` (OpenAPI 3.0), also beside references and enums; JSON Schema has no such word. And it
 * forgets that a fingerprint may be null, which it is in 107 of 204 recorded answers of OpenAI.
 */
function readSchema(): object {
  const text = gunzipSync(readFileSync(schemaFile)).toString();
  return JSON.parse(text, (name, node: unknown) => {
    if (name === 'system_fingerprint') return { type: ['string', 'null'] };
    if (typeof node !== 'object' || node === null || !('nullable' in node)) return node;
    const { nullable, ...rest } = node;
    return nullable === true ? { anyOf: [rest, { type: 'null' }] } : rest;
  }) as object;
}

function isOpenOfText(event: CanonicalEvent): boolean {
  return event.type === 'open' && (event.item.type === 'message' || event.item.type === 'reasoning');
}

function collect(events: readonly CanonicalEvent[]): ReturnType<Collector['result']> {
  const collector = new Collector();
  for (const event of events) collector.on(event);
  return collector.result();
}

function answerContext(request: Partial<CanonicalRequest>): AnswerContext {
  return {
    id: 'gen-1',
    createdSeconds: 1_700_000_000,
    model: 'test/model',
    request: fillRequest(request),
    reasoningContentMirror: true,
    costUsd: 0.5,
  };
}

/** A client whose every request is answered with these events. */
function sdkReading(events: readonly CanonicalEvent[]): OpenAI {
  let text = '';
  const sink = encodeStream((frames) => (text += frames), answerContext({ streamUsage: true }));
  for (const event of events) sink.on(event);
  const answer = (): Response => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  return new OpenAI({ apiKey: 'sk-test', fetch: () => Promise.resolve(answer()) });
}

/** The data of every frame that was written. */
function stream(events: readonly CanonicalEvent[], context: AnswerContext): string[] {
  let text = '';
  const sink = encodeStream((frames) => (text += frames), context);
  for (const event of events) sink.on(event);
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => frame.replace(/^data: /, ''));
}

interface Chunk {
  readonly id: string;
  readonly choices: readonly {
    readonly delta: JsonObject;
    readonly finish_reason: string | null;
    readonly logprobs: JsonObject | null;
  }[];
  readonly usage?: JsonObject | null;
}

/** Joins chunks the way clients do: strings are appended, tool calls found by index, details by index and type. */
function joinChunks(frames: readonly string[]): JsonObject {
  const message: Record<string, JsonValue> = {};
  const lists = { tool_calls: new Map<string, JsonValue>(), reasoning_details: new Map<string, JsonValue>() };
  const annotations: JsonValue[] = [];
  const logprobs: JsonValue[] = [];
  let finishReason: string | null = null;
  let usage: JsonValue = null;
  for (const frame of frames.slice(0, -1)) {
    const chunk = JSON.parse(frame) as Chunk;
    usage = chunk.usage ?? usage;
    const choice = chunk.choices[0];
    if (!choice) continue;
    finishReason = choice.finish_reason ?? finishReason;
    logprobs.push(...((choice.logprobs?.['content'] as JsonValue[] | undefined) ?? []));
    for (const [key, value] of Object.entries(choice.delta)) {
      if (typeof value === 'string') message[key] = `${(message[key] as string | undefined) ?? ''}${value}`;
      if (key === 'annotations') annotations.push(...(value as JsonValue[]));
      if (key !== 'tool_calls' && key !== 'reasoning_details') continue;
      for (const piece of value as JsonObject[]) {
        const id = `${String(piece['index'])} ${key === 'tool_calls' ? '' : String(piece['type'])}`;
        lists[key].set(id, append(lists[key].get(id), piece));
      }
    }
  }
  // Placed by their index: a gap would show.
  const calls: JsonValue[] = [];
  for (const call of lists.tool_calls.values()) {
    const { index, ...rest } = call as JsonObject;
    calls[Number(index)] = rest;
  }
  const whole = {
    ...message,
    annotations,
    tool_calls: calls,
    reasoning_details: [...lists.reasoning_details.values()],
  };
  return {
    choices: [{ message: whole, finish_reason: finishReason, logprobs: { content: logprobs } }],
    usage,
  };
}

const APPENDED = new Set(['text', 'summary', 'arguments', 'input']);

function append(before: JsonValue | undefined, piece: JsonObject): JsonObject {
  const joined: Record<string, JsonValue | undefined> = { ...(before as JsonObject | undefined) };
  for (const [key, value] of Object.entries(piece)) {
    const old = joined[key];
    if (typeof value === 'object' && value !== null) joined[key] = append(old, value as JsonObject);
    else joined[key] = APPENDED.has(key) && typeof old === 'string' ? old + String(value) : value;
  }
  return joined;
}

function firstChoice(answer: JsonObject): JsonObject {
  return (answer['choices'] as JsonObject[])[0] ?? {};
}

/** Content on which both modes must agree, with absence written in one way. */
function asWhole(answer: JsonObject): unknown {
  const choice = firstChoice(answer);
  const message = choice['message'] as JsonObject;
  return JSON.parse(
    JSON.stringify({
      role: message['role'],
      content: message['content'] || null,
      refusal: message['refusal'] || null,
      reasoning: message['reasoning'],
      mirror: message['reasoning_content'],
      details: message['reasoning_details'] ?? [],
      annotations: message['annotations'],
      calls: message['tool_calls'] ?? [],
      logprobs: (choice['logprobs'] as JsonObject | null)?.['content'] ?? [],
      finish: choice['finish_reason'],
      usage: answer['usage'],
    }),
  );
}
