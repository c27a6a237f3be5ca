// Failures as the official OpenAI SDK sees them: which of its error classes, which members, and whether it retries.
import { afterAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import {
  chatBody,
  chatChunk,
  chatError,
  CHAT_OPENING,
  opened,
  whole,
} from '../../support/upstreams/answers.ts';
import { recordOf, startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';

/** Requests that the SDK made, its own retries included. */
let calls: Response[] = [];

const scene = await startScene(['up'], {
  config: {
    routing: { retries: 0 },
    keys: [
      { name: 'test', key: 'sk-test' },
      { name: 'narrow', key: 'sk-test-narrow', models: ['sim/echo'] },
    ],
  },
});
const client = new OpenAI({
  apiKey: scene.gateway.key,
  baseURL: scene.gateway.baseURL,
  maxRetries: 2,
  fetch: async (input, init) => {
    const response = await fetch(input as string, init as RequestInit);
    calls.push(response);
    return response;
  },
});
afterAll(() => scene[Symbol.asyncDispose]());

const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }];

/** The error of a call that must fail. */
async function failureOf(
  model: string,
  extra: object = {},
  by: OpenAI = client,
): Promise<InstanceType<typeof OpenAI.APIError>> {
  calls = [];
  const error: unknown = await by.chat.completions.create({ model, messages, ...extra }).then(
    () => new Error('it succeeded'),
    (failure: unknown) => failure,
  );
  if (!(error instanceof OpenAI.APIError)) throw error;
  return error;
}

test.each([
  ['sim/error-400', OpenAI.BadRequestError],
  ['sim/error-422', OpenAI.UnprocessableEntityError],
  ['sim/context-overflow', OpenAI.BadRequestError],
  ['sim/content-filter', OpenAI.BadRequestError],
] as const)('%s is an error of the client', async (model, type) => {
  const error = await failureOf(model);
  expect(error).toBeInstanceOf(type);
  expect(error.requestID).toMatch(/^[0-9a-f]{32}$/);
  expect(error.message).toBeTruthy();
  expect(calls).toHaveLength(1);
});

test.each(['sim/error-401', 'sim/error-403', 'sim/html-200', 'sim/empty-200'])(
  '%s is an error of the gateway: 502, and the SDK does not repeat what failover has tried',
  async (model) => {
    for (const stream of [false, true]) {
      const error = await failureOf(model, { stream });
      expect(error).toBeInstanceOf(OpenAI.InternalServerError);
      expect(error.status).toBe(502);
      expect(error.headers?.get('x-should-retry')).toBe('false');
      expect(calls).toHaveLength(1);
    }
  },
);

test.each([402, 500, 503, 529])(
  'sim/error-%d is returned unchanged, and the SDK does not retry it',
  async (status) => {
    const error = await failureOf(`sim/error-${status}`);
    expect(error.status).toBe(status);
    expect(error.headers?.get('x-should-retry')).toBe('false');
    expect(calls).toHaveLength(1);
  },
);

test.each([false, true])('a rate limit raises RateLimitError (stream: %p)', async (stream) => {
  const error = await failureOf('sim/error-429', { stream });
  expect(error).toBeInstanceOf(OpenAI.RateLimitError);
  expect(error.code).toBe('rate_limit_exceeded');
  expect(error.headers?.get('retry-after')).toBe('1');
  expect(calls).toHaveLength(1);
});

test('the SDK waits longer than the gateway does if an upstream asks for it, and repeats the request', async () => {
  const up = scene.upstream('up');
  up.script(chatError(429, { 'retry-after-ms': '5001' }), whole(chatBody('Hello')));
  calls = [];
  const answer = await client.chat.completions.create({ model: 'one/chat', messages });
  expect(answer.choices[0]?.message.content).toBe('Hello');
  expect(calls.map((call) => call.status)).toEqual([429, 200]);
  expect(up.requests).toHaveLength(2);
});

test('an unknown model raises NotFoundError', async () => {
  const error = await failureOf('sim/chatt');
  expect(error).toBeInstanceOf(OpenAI.NotFoundError);
  expect(error.code).toBe('model_not_found');
  expect(error.param).toBe('model');
  expect(error.message).toContain('sim/chat');
});

test('a wrong key is refused, and so is a key without permission', async () => {
  const withKey = (apiKey: string): OpenAI => client.withOptions({ apiKey });
  const wrong = await failureOf('sim/chat', {}, withKey('sk-wrong'));
  expect(wrong).toBeInstanceOf(OpenAI.AuthenticationError);
  expect(wrong.message).not.toContain('sk-wrong');
  expect(await failureOf('sim/chat', {}, withKey('sk-test-narrow'))).toBeInstanceOf(
    OpenAI.PermissionDeniedError,
  );
  expect(
    await withKey('sk-test-narrow').chat.completions.create({ model: 'sim/echo', messages }),
  ).toMatchObject({ model: 'sim/echo' });
});

test.each([
  ['temperature', { temperature: -1 }],
  ['messages', { messages: 'Hello' }],
  ['messages[0].content', { messages: [{ role: 'user', content: 7 }] }],
  ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
  ['reasoning.effort', { reasoning: { effort: 'huge' } }],
] as const)('the error names the invalid parameter: %s', async (param, extra) => {
  const error = await failureOf('sim/chat', extra);
  expect(error).toBeInstanceOf(OpenAI.BadRequestError);
  expect(error.param).toBe(param);
  expect(calls).toHaveLength(1);
});

test.each(['sim/cut-after-10', 'sim/error-in-stream'])('%s throws out of the stream', async (model) => {
  const stream = await client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Tell me a story.' }],
    stream: true,
  });
  let text = '';
  const reading = (async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  })();
  const error: unknown = await reading.then(
    () => null,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  expect(text.length).toBeGreaterThan(0);
});

test.each(['sim/length', 'sim/content-filter-mid'])('%s ends with its finish reason', async (model) => {
  const answer = await client.chat.completions.create({ model, messages });
  expect(answer.choices[0]?.finish_reason).toBe(model === 'sim/length' ? 'length' : 'content_filter');
});

test('a stream that the client aborts stops the upstream', async () => {
  const up = scene.upstream('up');
  up.script(opened(CHAT_OPENING + chatChunk({ content: 'Once' })));
  const { data: stream, response } = await client.chat.completions
    .create({ model: 'one/chat', messages, stream: true })
    .withResponse();
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'Once') stream.controller.abort();
  await up.exchanges[0]?.closed;
  // The record is written by then or a moment later; its reader asks until it is there.
  let record: unknown = null;
  while (record === null) record = await recordOf(scene.gateway, response).catch(() => null);
  expect(at(record, 'cancelled')).toBe(true);
});
