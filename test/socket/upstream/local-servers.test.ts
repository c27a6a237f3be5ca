// Servers that operators run themselves, of which nothing is known but the protocol: what they are sent, and what their
// answers teach. The bodies are those of llama-server (0.10434.0) and of Ollama.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  chatBody,
  chatChunk,
  CHAT_ENDING,
  CHAT_OPENING,
  messagesBody,
  responsesBody,
  whole,
} from '../../support/upstreams/answers.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { DIALECTS, type ClientProtocol, type Question } from '../../support/servers/questions.ts';
import {
  LARGE_BATCH,
  LITELLM_NO_SUCH_MODEL,
  NO_AUDIO,
  NO_EMBEDDINGS,
  NO_PICTURES,
  NO_SUCH_MODEL,
  type Refusal,
  TOO_LONG,
} from '../../support/servers/refusals.ts';
import { type Answer, startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const HI = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
};
const ANSWERS = {
  'openai-chat': chatBody('Hi'),
  'openai-responses': responsesBody([HI]),
  'anthropic-messages': messagesBody([{ type: 'text', text: 'Hi' }], 'end_turn'),
} as const;
type Upstream = keyof typeof ANSWERS;
const UPSTREAMS = Object.keys(ANSWERS) as Upstream[];
const CLIENTS = Object.keys(DIALECTS) as ClientProtocol[];

const upstream = await startUpstream();
const { origin } = upstream;
const gateway = await startGateway({
  routing: { breaker: { failures: 1000 } },
  providers: {
    ...Object.fromEntries(
      UPSTREAMS.map((protocol) => [
        protocol,
        { protocols: { [protocol]: protocol === 'anthropic-messages' ? origin : `${origin}/v1` } },
      ]),
    ),
    'llama.cpp': { base_url: `${origin}/v1` },
    ollama: { base_url: `${origin}/v1` },
    vllm: { base_url: `${origin}/v1` },
    'lesser-responses': {
      preset: 'llama.cpp',
      base_url: `${origin}/v1`,
      protocols: { 'openai-responses': {} },
    },
    'ollama-responses': {
      preset: 'ollama',
      base_url: `${origin}/v1`,
      protocols: { 'openai-responses': {} },
    },
    'lesser-messages': {
      preset: 'llama.cpp',
      base_url: `${origin}/v1`,
      protocols: { 'anthropic-messages': {} },
    },
  },
});
afterAll(async () => {
  await gateway?.close();
  await upstream?.stop();
});
beforeEach(() => upstream.script());

const refused = ({ body, status }: Refusal): Answer => whole(body, status);
const ASK = { messages: [{ role: 'user', content: 'Hello' }] };

/** Asks through the gateway, and returns what the upstream was sent, and the loss report. */
async function sent(
  client: ClientProtocol,
  provider: string,
  question: Partial<Question>,
  extra: object = {},
  answers: Readonly<Record<Upstream, object>> = ANSWERS,
): Promise<{ readonly body: Record<string, unknown>; readonly report: string }> {
  const protocol =
    UPSTREAMS.find((name) => name.endsWith(provider.replace(/^(?:lesser|ollama)-/, ''))) ?? 'openai-chat';
  upstream.always(whole(answers[protocol]));
  const dialect = DIALECTS[client];
  const asking = { title: '', user: 'Hello', limit: 100, ...question };
  const response = await fetch(gateway.origin + dialect.path(`${provider}/mine`, false), {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...dialect.ask(`${provider}/mine`, asking, false), ...extra }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  return {
    body: upstream.requests.at(-1)?.json as Record<string, unknown>,
    report: response.headers.get('x-dragoman-report') ?? '',
  };
}

describe('the setting for no reasoning, with an unknown model', () => {
  const WORDS = {
    'openai-chat': { reasoning_effort: 'none' },
    'openai-responses': { reasoning: { effort: 'none' } },
    'anthropic-messages': { thinking: { type: 'disabled' } },
  } as const;

  for (const client of CLIENTS) {
    test.each(UPSTREAMS)(`is sent from a client of ${client} over %s`, async (provider) => {
      const { body } = await sent(client, provider, { thinks: false });
      expect(body).toMatchObject(WORDS[provider]);
    });

    test(`is sent from a client of ${client} as the preset has it`, async () => {
      const { body } = await sent(client, 'llama.cpp', { thinks: false });
      expect(body).toMatchObject({ chat_template_kwargs: { enable_thinking: false } });
    });
  }

  test.each([{ enabled: false }, { effort: 'none' }])('is accepted as %p, too', async (reasoning) => {
    expect((await sent('openai-chat', 'openai-chat', {}, { reasoning })).body).toMatchObject({
      reasoning_effort: 'none',
    });
  });

  test('is not sent unless it is requested', async () => {
    for (const provider of [...UPSTREAMS, 'llama.cpp', 'ollama'])
      expect(Object.keys((await sent('openai-chat', provider, {})).body)).not.toContainAnyValues([
        'reasoning',
        'reasoning_effort',
        'thinking',
        'chat_template_kwargs',
      ]);
  });

  test('is reported, and not sent again, if the server rejects it', async () => {
    const body = {
      error: { code: 400, message: "Unknown field 'reasoning_effort'", type: 'invalid_request_error' },
    };
    upstream.script(whole(body, 400), whole(ANSWERS['openai-chat']), whole(ANSWERS['openai-chat']));
    const ask = {
      model: 'openai-chat/refuses',
      reasoning_effort: 'none',
      messages: [{ role: 'user', content: 'Hi' }],
    };
    for (const _ of [1, 2]) {
      const response = await gateway.post('/chat/completions', ask);
      expect(response.status).toBe(200);
      expect(response.headers.get('x-dragoman-report')).toContain('reasoning');
    }
    expect(upstream.requests.map(({ json }) => Object.hasOwn(json as object, 'reasoning_effort'))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('unwanted reasoning', () => {
  const THOUGHTS = {
    'openai-chat': chatBody({ content: 'Hi', reasoning_content: 'Hm.' }),
    'openai-responses': responsesBody([
      { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      HI,
    ]),
    'anthropic-messages': messagesBody(
      [
        { type: 'thinking', thinking: 'Hm.', signature: '' },
        { type: 'text', text: 'Hi' },
      ],
      'end_turn',
    ),
  };
  const NAMES: Readonly<Record<ClientProtocol, string>> = {
    'openai-chat': 'reasoning_effort:dropped',
    'openai-responses': 'reasoning.effort:dropped',
    'anthropic-messages': 'thinking:dropped',
    gemini: 'generationConfig.thinkingConfig:dropped',
  };

  for (const client of CLIENTS)
    test.each(UPSTREAMS)(`are reported to a client of ${client} over %s`, async (provider) => {
      expect((await sent(client, provider, { thinks: false }, {}, THOUGHTS)).report).toContain(NAMES[client]);
      expect((await sent(client, provider, { thinks: false })).report).not.toContain(NAMES[client]);
      expect((await sent(client, provider, {}, {}, THOUGHTS)).report).not.toContain(NAMES[client]);
    });
});

describe('the output limit', () => {
  test('keeps the name that a client of Chat Completions wrote', async () => {
    const named = (more: object): Promise<{ body: Record<string, unknown> }> =>
      sent('openai-chat', 'openai-chat', {}, { max_tokens: undefined, ...more });
    expect((await named({ max_tokens: 7 })).body).toMatchObject({ max_tokens: 7 });
    const newer = (await named({ max_completion_tokens: 7 })).body;
    expect(newer).toMatchObject({ max_completion_tokens: 7 });
    expect(newer).not.toHaveProperty('max_tokens');
  });

  test.each(CLIENTS.slice(1))('is `max_tokens` from a client of %s', async (client) => {
    const { body } = await sent(client, 'openai-chat', { limit: 7 });
    expect(body).toMatchObject({ max_tokens: 7 });
    expect(body).not.toHaveProperty('max_completion_tokens');
  });

  test('is not raised for servers other than OpenAI’s over Responses', async () => {
    const { body, report } = await sent('openai-chat', 'openai-responses', { limit: 7 });
    expect(body).toMatchObject({ max_output_tokens: 7 });
    expect(report).not.toContain('clamped');
  });

  const ask = (model: string): object => ({
    model,
    max_completion_tokens: 3,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const long = { ...chatBody('Hi'), usage: { prompt_tokens: 5, completion_tokens: 316, total_tokens: 321 } };

  test('that is ignored is reported, and the other name is used from then on', async () => {
    upstream.script(whole(long), whole(ANSWERS['openai-chat']));
    const first = await gateway.post('/chat/completions', ask('openai-chat/ignores'));
    expect(first.headers.get('x-dragoman-report')).toContain('max_tokens');
    await gateway.post('/chat/completions', ask('openai-chat/ignores'));
    expect(upstream.requests[1]?.json).toMatchObject({ max_tokens: 3 });
  });

  test.each([
    [
      'max_completion_tokens',
      'Unrecognized request argument supplied: max_completion_tokens',
      ask('openai-chat/older'),
      'max_tokens',
    ],
    [
      'max_tokens',
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { ...ask('openai-chat/newer'), max_completion_tokens: undefined, max_tokens: 3 },
      'max_completion_tokens',
    ],
  ])('is sent under its other name if %s is rejected', async (_, message, body, other) => {
    upstream.script(
      whole({ error: { message, type: 'invalid_request_error' } }, 400),
      whole(ANSWERS['openai-chat']),
    );
    expect((await gateway.post('/chat/completions', body)).status).toBe(200);
    expect(upstream.requests[1]?.json).toMatchObject({ [other]: 3 });
  });
});

describe('a truncated response that the server calls complete', () => {
  const usage = { input_tokens: 21, output_tokens: 16, total_tokens: 37 };
  const body = { ...ANSWERS['openai-responses'], status: 'completed', usage };
  const ask = (model: string): object => ({ model, max_output_tokens: 16, input: 'Hi', store: false });

  test.each(['lesser', 'ollama'])('is incomplete over the preset: %s', async (preset) => {
    upstream.always(whole(body));
    const response = await gateway.post('/responses', ask(`${preset}-responses/mine`));
    expect(await response.json()).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  test('has the finish reason of the server until a probe shows that it is wrong', async () => {
    upstream.always(whole(body));
    const response = await gateway.post('/responses', ask('openai-responses/mine'));
    expect(await response.json()).toMatchObject({ status: 'completed' });
  });
});

test('a preset gets its own member names over the protocols that are named for it', async () => {
  expect((await sent('anthropic-messages', 'lesser-messages', { thinks: false })).body).toMatchObject({
    chat_template_kwargs: { enable_thinking: false },
  });
  expect(upstream.requests.at(-1)?.path).toBe('/v1/messages');
  await sent('openai-responses', 'lesser-responses', {});
  expect(upstream.requests.at(-1)?.path).toBe('/v1/responses');
});

describe('a prompt that is too long', () => {
  test.each(UPSTREAMS)('goes to a larger endpoint at once over %s', async (provider) => {
    const larger = await startUpstream();
    larger.always(whole(ANSWERS[provider]));
    const base = (origin: string): string => (provider === 'anthropic-messages' ? origin : `${origin}/v1`);
    const of = (origin: string): object => ({ protocols: { [provider]: base(origin) } });
    const scene = await startGateway({
      providers: { small: of(upstream.origin), large: of(larger.origin) },
      models: [
        {
          id: 'mine',
          endpoints: [
            { provider: 'small', model: 'm' },
            { provider: 'large', model: 'm', context_length: 32_000 },
          ],
        },
      ],
    });
    upstream.always(refused(TOO_LONG));
    const first = await scene.post('/chat/completions', { model: 'mine', ...ASK });
    expect(first.status).toBe(200);
    expect(upstream.requests).toHaveLength(1);
    expect(larger.requests).toHaveLength(1);
    await scene.close();
    await larger.stop();
  });

  test('goes also to an endpoint with an unknown context, and to none with a smaller one', async () => {
    await using cleanup = new AsyncDisposableStack();
    const small = await startUpstream();
    cleanup.defer(() => small.stop());
    const unknown = await startUpstream();
    cleanup.defer(() => unknown.stop());
    const scene = await startGateway({
      providers: {
        first: { protocols: { 'openai-chat': `${upstream.origin}/v1` } },
        same: { protocols: { 'openai-chat': `${upstream.origin}/v1` } },
        small: { protocols: { 'openai-chat': `${small.origin}/v1` } },
        unknown: { protocols: { 'openai-chat': `${unknown.origin}/v1` } },
      },
      models: [
        {
          id: 'mine',
          endpoints: [
            { provider: 'first', model: 'm' },
            { provider: 'same', model: 'm' },
            { provider: 'small', model: 'm', context_length: 2048 },
            { provider: 'unknown', model: 'm' },
          ],
        },
      ],
    });
    cleanup.defer(() => scene.close());
    for (const each of [upstream, small]) each.always(refused(TOO_LONG));
    unknown.always(whole(ANSWERS['openai-chat']));
    expect((await scene.post('/chat/completions', { model: 'mine', ...ASK })).status).toBe(200);
    expect(upstream.requests).toHaveLength(1);
    expect(small.requests).toHaveLength(0);
    expect(unknown.requests).toHaveLength(1);
  });

  test.each(UPSTREAMS)('has the error by which clients shorten their prompt, over %s', async (provider) => {
    upstream.always(refused(TOO_LONG));
    const chat = await gateway.post('/chat/completions', { model: `${provider}/long`, ...ASK });
    expect(chat.status).toBe(400);
    expect(await chat.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
    const claude = await gateway.post('/messages', { model: `${provider}/long`, max_tokens: 9, ...ASK });
    expect(await claude.text()).toContain('prompt is too long: 5024 tokens > 2048 maximum');
  });
});

describe('a request that a server cannot serve', () => {
  const others = (body: object): object => ({ ...body, model: 'mine' });
  const picture = {
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
      },
    ],
  };

  for (const provider of UPSTREAMS)
    test.each([
      ['a picture', NO_PICTURES],
      ['audio', NO_AUDIO],
    ])(`%s: goes to the next endpoint, and makes none unavailable, over ${provider}`, async (_, refusal) => {
      const next = await startUpstream();
      next.always(whole(ANSWERS['openai-chat']));
      const base = provider === 'anthropic-messages' ? upstream.origin : `${upstream.origin}/v1`;
      const scene = await startGateway({
        providers: {
          blind: { protocols: { [provider]: base } },
          sees: { protocols: { 'openai-chat': `${next.origin}/v1` } },
        },
        models: [
          {
            id: 'mine',
            endpoints: [
              { provider: 'blind', model: 'm' },
              { provider: 'sees', model: 'm' },
            ],
          },
        ],
      });
      upstream.always(refused(refusal));
      for (const _try of [1, 2, 3, 4])
        expect((await scene.post('/chat/completions', others(picture))).status).toBe(200);
      // Asked each time, once: it is neither retried nor left alone.
      expect(upstream.requests).toHaveLength(4);
      upstream.always(whole(ANSWERS[provider]));
      expect((await scene.post('/chat/completions', { model: 'blind/m', ...ASK })).status).toBe(200);
      await scene.close();
      await next.stop();
    });

  test.each([
    ['embeddings', NO_EMBEDDINGS],
    ['a batch that is too large', LARGE_BATCH],
  ])('%s: is refused once, as the mistake of the request', async (_, refusal) => {
    upstream.always(refused(refusal));
    for (const _try of [1, 2, 3, 4]) {
      const response = await gateway.post('/embeddings', { model: 'llama.cpp/none', input: 'x' });
      expect(response.status).toBe(400);
    }
    expect(upstream.requests).toHaveLength(4);
  });
});

for (const refusal of [NO_SUCH_MODEL, LITELLM_NO_SUCH_MODEL])
  test.each(UPSTREAMS)('a model that the server does not have is not found, over %s', async (provider) => {
    upstream.always(refused(refusal));
    const response = await gateway.post('/chat/completions', { model: `${provider}/nope`, ...ASK });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { param: 'model', code: 'model_not_found' } });
  });

describe('a slow self-hosted server', () => {
  const sceneWith = async (clock: ManualClock, timeouts?: object): Promise<TestGateway> =>
    startGateway(
      {
        routing: { retries: 0 },
        providers: {
          ollama: { base_url: `${upstream.origin}/v1`, ...(timeouts && { timeouts }) },
          plain: { protocols: { 'openai-chat': `${upstream.origin}/v1` } },
        },
      },
      { clock },
    );

  /** Status of an answer that comes after so many milliseconds. */
  async function after(
    ms: number,
    { model, timeouts, headers }: { model: string; timeouts?: object; headers?: Record<string, string> },
  ): Promise<number> {
    const clock = new ManualClock();
    await using cleanup = new AsyncDisposableStack();
    const scene = await sceneWith(clock, timeouts);
    cleanup.defer(() => scene.close());
    upstream.script(() => {});
    const asking = scene.post('/chat/completions', { model, ...ASK }, headers);
    const exchange = await upstream.arrived(1);
    clock.advance(ms);
    whole(ANSWERS['openai-chat'])(exchange);
    return (await asking).status;
  }

  test('has ten minutes if its preset is one of a local server', async () => {
    expect(await after(590_000, { model: 'ollama/mine' })).toBe(200);
    expect(await after(610_000, { model: 'ollama/mine' })).toBe(504);
  });

  test('has the usual time without a preset', async () => {
    expect(await after(310_000, { model: 'plain/mine' })).toBe(504);
  });

  test('has the time that its provider is given', async () => {
    expect(await after(20_000, { model: 'ollama/mine', timeouts: { response_ms: 10_000 } })).toBe(504);
  });

  test('that reports its progress on the prompt gets more time, and others do not', async () => {
    for (const [model, expected] of [
      ['ollama/mine', true],
      ['plain/mine', false],
    ] as const) {
      const clock = new ManualClock();
      await using cleanup = new AsyncDisposableStack();
      const scene = await sceneWith(clock);
      cleanup.defer(() => scene.close());
      upstream.script(() => {});
      const asking = scene.post('/chat/completions', { model, stream: true, ...ASK });
      const exchange = await upstream.arrived(1);
      exchange.openStream();
      const limitMs = expected ? 600_000 : 60_000;
      for (let reported = 0; reported < 3; reported++) {
        exchange.chunk(`: ${reported} of 3\n\n`);
        // Bytes that came have been read when a question that came later is answered.
        await fetch(`${scene.origin}/health`);
        await fetch(`${scene.origin}/health`);
        clock.advance(limitMs - 5000);
        if (!expected) clock.advance(10_000);
      }
      exchange.chunk(CHAT_OPENING + chatChunk({ content: 'Hi' }) + CHAT_ENDING);
      exchange.endStream();
      const said = await (await asking).text();
      expect([model, said.includes('"Hi"')]).toEqual([model, expected]);
    }
  });

  test('has at most the deadline of its client', async () => {
    const headers = { 'x-dragoman-timeout-ms': '5000' };
    expect(await after(20_000, { model: 'ollama/mine', headers })).toBe(504);
  });
});

test('the schema of `json_object` is enforced as that of `json_schema`', async () => {
  const schema = { type: 'object', properties: { a: { type: 'boolean' } } };
  const { body } = await sent(
    'openai-chat',
    'ollama',
    {},
    { response_format: { type: 'json_object', schema } },
  ).catch(() => ({ body: upstream.requests[0]?.json }));
  expect(body).toMatchObject({ response_format: { type: 'json_schema', json_schema: { schema } } });
});

test.each([
  ['anthropic-messages', { top_k: 7 }],
  ['gemini', { generationConfig: { topK: 7 } }],
] as const)('top_k of a client of %s reaches a server that takes it', async (client, extra) => {
  expect((await sent(client, 'llama.cpp', {}, extra)).body).toMatchObject({ top_k: 7 });
  const { body, report } = await sent(client, 'ollama', {}, extra);
  expect(body).not.toHaveProperty('top_k');
  expect(report).not.toBe('');
});

test.each(['openai-chat', 'openai-responses'] as const)(
  'top_k and seed reach an unknown server, over %s',
  async (provider) => {
    expect((await sent('anthropic-messages', provider, {}, { top_k: 7 })).body).toMatchObject({ top_k: 7 });
    expect((await sent('openai-chat', provider, {}, { seed: 3 })).body).toMatchObject({ seed: 3 });
    const both = { generationConfig: { topK: 7, seed: 3 } };
    expect((await sent('gemini', provider, {}, both)).body).toMatchObject({ top_k: 7, seed: 3 });
  },
);

test.each(['openai-chat', 'llama.cpp', 'openai-responses', 'lesser-responses'])(
  'a grammar of a client of Responses reaches %s',
  async (provider) => {
    const { body } = await sent('openai-responses', provider, {}, { grammar: 'root ::= "yes"' });
    expect(body).toMatchObject({ grammar: 'root ::= "yes"' });
  },
);

test('top_k that an unknown server rejects is reported, and not sent again', async () => {
  const body = {
    error: { message: 'Unsupported parameter: top_k', type: 'invalid_request_error', param: 'top_k' },
  };
  upstream.script(whole(body, 400), whole(ANSWERS['openai-chat']), whole(ANSWERS['openai-chat']));
  const ask = { model: 'openai-chat/no-top-k', max_tokens: 9, top_k: 7, ...ASK };
  for (const _try of [1, 2]) {
    const response = await gateway.post('/messages', ask);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-report')).toContain('top_k');
  }
  expect(upstream.requests.map(({ json }) => 'top_k' in (json as object))).toEqual([true, false, false]);
});

test('a call that its limit cut has an empty input in Messages', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"fa' } };
  upstream.always(whole(chatBody({ content: null, tool_calls: [call] }, 'length')));
  const tools = [{ name: 'look', input_schema: { type: 'object' } }];
  const response = await gateway.post('/messages', { model: 'llama.cpp/mine', max_tokens: 9, tools, ...ASK });
  const answer = (await response.json()) as { content: readonly { input: unknown }[] };
  expect(answer.content[0]?.input).toEqual({});
  expect(answer).toMatchObject({
    content: [{ type: 'tool_use' }],
    stop_reason: 'max_tokens',
  });
});

describe('the tokens of a request', () => {
  const count = (model: string): Promise<Response> =>
    gateway.post('/messages/count_tokens', { model, ...ASK });

  test.each([
    ['llama.cpp', '/v1/chat/completions/input_tokens', { input_tokens: 7, object: 'response.input_tokens' }],
    ['vllm', '/tokenize', { count: 7, max_model_len: 4096, tokens: [1, 2, 3, 4, 5, 6, 7] }],
  ])('are counted by %s at its own path', async (provider, path, answer) => {
    upstream.script(whole(answer));
    const response = await count(`${provider}/mine`);
    expect(await response.json()).toEqual({ input_tokens: 7 });
    expect(response.headers.get('x-dragoman-estimated')).toBeNull();
    expect(upstream.requests.map((each) => each.path)).toEqual([path]);
    expect(upstream.requests[0]?.json).toEqual({ model: 'mine', ...ASK });
  });

  test.each(['openai-chat', 'ollama'])('are estimated for %s, which does not count', async (provider) => {
    const response = await count(`${provider}/mine`);
    expect(response.headers.get('x-dragoman-estimated')).toBe('true');
    expect(upstream.requests).toEqual([]);
  });
});
