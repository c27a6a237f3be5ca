// The official Anthropic SDK, unmodified, in front of each of the three upstream protocols, and the bytes beneath it.
import { afterAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import type {
  ContentBlock,
  Message,
  MessageCreateParamsNonStreaming,
  MessageParam,
  Tool,
} from '@anthropic-ai/sdk/resources/messages';
import { DIALECTS, startEveryUpstream } from '../../support/upstreams/every-upstream.ts';
import { readErrorBody, readMessagesStream } from '../../support/rules/messages-stream-rules.ts';
import { CITY } from '../../support/city-schema.ts';
import { answered } from '../../support/messages-turn.ts';

const gateway = await startEveryUpstream({ routing: { retries: 0 } });
const client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.origin, maxRetries: 0 });
afterAll(() => gateway.close());

const weather: Tool = {
  name: 'get_weather',
  description: 'Weather of a city',
  input_schema: CITY,
};
const time: Tool = {
  name: 'get_time',
  input_schema: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
};
const ask = (content: string): MessageParam[] => [{ role: 'user', content }];
const textOf = (message: Message): string =>
  message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
const typesOf = (message: Message): string[] => message.content.map((block) => block.type);

describe.each([...DIALECTS, 'sim/claude'])('%s', (model) => {
  const base = { model, max_tokens: 4000 };

  test('answers', async () => {
    const { data, response } = await client.messages
      .create({ ...base, system: 'Be brief.', messages: ask('What is 6 x 7?') })
      .withResponse();
    expect(data).toMatchObject({ type: 'message', role: 'assistant', model, stop_reason: 'end_turn' });
    expect(data.id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(`msg_${response.headers.get('request-id')}`).toBe(data.id);
    expect(textOf(data)).toContain('42');
    // As from Anthropic: `@ai-sdk/anthropic` 3 refuses a whole answer with `citations: null`.
    expect(data.content.filter((block) => Object.hasOwn(block, 'citations'))).toEqual([]);
    expect(data.usage.input_tokens).toBeGreaterThan(0);
    expect(data.usage.output_tokens).toBeGreaterThan(0);
  });

  // Gemini signs the words of a whole answer before they are said, and those of a stream behind them, where the signature
  // is kept for the model alone.
  const said = ({ content }: Message): ContentBlock[] =>
    model === 'sim/gemini' ? content.filter(({ type }) => type !== 'redacted_thinking') : content;

  test('streams the same response', async () => {
    const body = { ...base, thinking: { type: 'disabled' as const }, messages: ask('count to 20') };
    const plain = await client.messages.create(body);
    const streamed: Message = await client.messages.stream(body).finalMessage();
    expect(said(streamed)).toEqual(said(plain));
    expect(streamed.stop_reason).toBe('end_turn');
    expect(streamed.usage.output_tokens).toBe(plain.usage.output_tokens);
    expect(streamed.usage.input_tokens).toBe(plain.usage.input_tokens);
  });

  test('writes streams by the rules', async () => {
    for (const content of [
      'count to 20',
      'explain, then call get_weather and get_time in parallel for "Rome"',
    ]) {
      const response = await gateway.post('/messages', {
        ...base,
        stream: true,
        thinking: { type: 'enabled', budget_tokens: 2000 },
        tools: [weather, time],
        messages: ask(content),
      });
      expect(response.headers.get('content-type')).toStartWith('text/event-stream');
      const read = readMessagesStream(await response.text());
      expect(read.error).toBeNull();
      expect(read.pings).toBe(1);
    }
  });

  test('thinks, calls a tool, and continues from both in the next turn', async () => {
    for (const mode of ['whole', 'streamed'] as const) {
      const body: MessageCreateParamsNonStreaming = {
        ...base,
        thinking: { type: 'enabled', budget_tokens: 2000 },
        tools: [weather, time],
        messages: ask('What is the weather in "Paris"?'),
      };
      const run = (params: MessageCreateParamsNonStreaming): Promise<Message> =>
        mode === 'whole' ? client.messages.create(params) : client.messages.stream(params).finalMessage();
      const first = await run(body);
      expect(first.stop_reason).toBe('tool_use');
      // OpenAI never shows the reasoning of Chat Completions.
      expect(typesOf(first)).toEqual(model === 'sim/chat' ? ['tool_use'] : ['thinking', 'tool_use']);
      const [thinking] = first.content;
      if (thinking?.type === 'thinking') {
        expect(thinking.thinking).not.toBe('');
        expect(thinking.signature).not.toBe('');
      }
      const second = await run({
        ...body,
        messages: [...body.messages, ...answered(first, 'sunny, 21 degrees')],
      });
      expect(second.stop_reason).toBe('end_turn');
      expect(textOf(second)).toContain('sunny, 21 degrees');
    }
  });

  test('calls several tools at once, or one', async () => {
    const body = {
      ...base,
      tools: [weather, time],
      messages: ask('In parallel: get_weather and get_time for "Rome"'),
    };
    const both = await client.messages.stream(body).finalMessage();
    const calls = both.content.filter((block) => block.type === 'tool_use');
    expect(calls.map((call) => call.name).toSorted()).toEqual(['get_time', 'get_weather']);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    const one = await client.messages.create({
      ...body,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    expect(one.content.filter((block) => block.type === 'tool_use')).toHaveLength(1);
  });

  test('obeys tool_choice', async () => {
    const tools = [weather, time];
    const named = await client.messages.create({
      ...base,
      tools,
      messages: ask('Hello, no tools please.'),
      tool_choice: { type: 'tool', name: 'get_time' },
    });
    expect(named.content.find((block) => block.type === 'tool_use')).toMatchObject({ name: 'get_time' });
    expect(named.stop_reason).toBe('tool_use');
    const none = await client.messages.create({
      ...base,
      tools,
      messages: ask('get_weather in Oslo'),
      tool_choice: { type: 'none' },
    });
    expect(none.stop_reason).toBe('end_turn');
    const any = await client.messages.create({
      ...base,
      tools,
      messages: ask('no tools'),
      tool_choice: { type: 'any' },
    });
    expect(any.stop_reason).toBe('tool_use');
  });

  test('takes images, and results that are errors or images', async () => {
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0KGgo=' },
    };
    const seen = await client.messages.create({
      ...base,
      messages: [{ role: 'user', content: [image, { type: 'text', text: 'Hello' }] }],
    });
    expect(textOf(seen)).toContain('Hello');
    const call: MessageParam = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } }],
    };
    const failed = await client.messages.create({
      ...base,
      tools: [weather],
      thinking: { type: 'disabled' },
      messages: [
        ...ask('get_weather in Oslo'),
        call,
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              is_error: true,
              content: [{ type: 'text', text: 'no such city' }],
            },
          ],
        },
      ],
    });
    expect(textOf(failed)).toContain('no such city');
    const shot = await client.messages.create({
      ...base,
      tools: [weather],
      tool_choice: { type: 'none' },
      thinking: { type: 'disabled' },
      messages: [
        ...ask('get_weather in Oslo'),
        call,
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [image] }] },
      ],
    });
    expect(shot.stop_reason).toBe('end_turn');
  });

  // Like its model, the simulated DeepSeek knows no schemas and has no form for a refusal.
  const isPlain = model === 'sim/deepseek';

  test.skipIf(isPlain)('answers in JSON by a schema', async () => {
    const answer = await client.messages.create({
      ...base,
      messages: ask('Describe "Ada", 36 years old.'),
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            properties: { name: { type: 'string' }, age: { type: 'integer' } },
            required: ['name', 'age'],
            additionalProperties: false,
          },
        },
      },
    });
    const parsed = JSON.parse(textOf(answer)) as Record<string, unknown>;
    expect(Object.keys(parsed).toSorted()).toEqual(['age', 'name']);
  });

  test('stops at a sequence and at the limit', async () => {
    const stopped = await client.messages.create({
      ...base,
      stop_sequences: ['7'],
      messages: ask('count to 20'),
    });
    expect(textOf(stopped)).toContain('6');
    expect(textOf(stopped)).not.toContain('7');
    const short = await client.messages.create({
      model,
      max_tokens: 16,
      messages: ask('write 500 words'),
    });
    expect(short.stop_reason).toBe('max_tokens');
  });

  test.skipIf(isPlain)('reports a refusal as a refusal', async () => {
    const refused = await client.messages.create({ ...base, messages: ask('please refuse') });
    expect(refused.stop_reason).toBe('refusal');
  });
});

test('a stop sequence is named if the upstream names it', async () => {
  const stopped = await client.messages.create({
    model: 'sim/messages',
    max_tokens: 100,
    stop_sequences: ['7'],
    messages: ask('count to 20'),
  });
  expect(stopped).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: '7' });
});

test('every base URL that clients of Anthropic use works', async () => {
  const body = { model: 'sim/echo', max_tokens: 100, messages: ask('Hello') };
  for (const path of [
    '/v1/messages',
    '/v1/messages?beta=true',
    '/api/v1/messages',
    '/api/anthropic/v1/messages',
  ]) {
    const response = await fetch(gateway.origin + path, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(`${path} ${response.status}`).toBe(`${path} 200`);
  }
});

test.each([
  ['sim/error-400', 400, Anthropic.BadRequestError, 'invalid_request_error'],
  ['sim/error-429', 429, Anthropic.RateLimitError, 'rate_limit_error'],
  ['sim/none', 404, Anthropic.NotFoundError, 'not_found_error'],
] as const)('%s is the error class for %d', async (model, status, type, word) => {
  for (const stream of [false, true]) {
    const error: unknown = await client.messages
      .create({ model, max_tokens: 100, messages: ask('Hello'), stream })
      .then(
        () => new Error('it succeeded'),
        (failure: unknown) => failure,
      );
    if (!(error instanceof type)) throw error;
    expect(error.status).toBe(status);
    expect(readErrorBody(error.error as Record<string, unknown>).type).toBe(word);
    expect(error.requestID).toMatch(/^[0-9a-f]{32}$/);
  }
});

test('a missing key is an authentication error', async () => {
  const stranger = new Anthropic({ apiKey: 'sk-wrong', baseURL: gateway.origin, maxRetries: 0 });
  const error: unknown = await stranger.messages
    .create({ model: 'sim/echo', max_tokens: 100, messages: ask('Hello') })
    .catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
});

test('the error of a prompt that is too long has the text that agents search for', async () => {
  const response = await gateway.post('/messages', {
    model: 'sim/context-overflow',
    max_tokens: 100,
    messages: ask('Hello'),
  });
  expect(response.status).toBe(400);
  expect(readErrorBody((await response.json()) as Record<string, unknown>).message).toContain(
    'prompt is too long',
  );
});

test('a failure after the first content is an error event, and the SDK throws', async () => {
  const stream = client.messages.stream({
    model: 'sim/error-in-stream',
    max_tokens: 1000,
    messages: ask('write 100 words'),
  });
  const error: unknown = await stream.finalMessage().catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(Anthropic.APIError);
  const response = await gateway.post('/messages', {
    model: 'sim/error-in-stream',
    max_tokens: 1000,
    stream: true,
    messages: ask('write 100 words'),
  });
  const read = readMessagesStream(await response.text());
  expect(read.error).not.toBeNull();
});
