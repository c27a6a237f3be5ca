// Counting the input of a request: by the upstream where it counts, else estimated and marked so; in each protocol that
// has such an operation.
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { startGateway } from '../../support/harness.ts';
import { silence, whole } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { dialect } from '../../support/upstreams/dialects.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';

const clock = new ArmedClock();
const scene = await startScene(['up'], { clock });
afterEach(() => clock.advance(600_000));
afterAll(() => scene[Symbol.asyncDispose]());

interface Counting {
  readonly protocol: 'anthropic-messages' | 'gemini';
  /** Below `/v1`. */
  readonly path: (model: string) => string;
  readonly ask: (model: string) => object;
  readonly headers: Record<string, string>;
  /** Request that the upstream must receive. */
  readonly asked: { readonly path: string; readonly body: object };
  /** The upstream's answer and the client's. */
  readonly seven: object;
  /** The same with more than the number. */
  readonly detailed: object;
}

const messages = [{ role: 'user', content: 'Tell me a story.' }];
const contents = [{ role: 'user', parts: [{ text: 'Tell me a story.' }] }];

const COUNTING: readonly Counting[] = [
  {
    protocol: 'anthropic-messages',
    path: () => '/messages/count_tokens',
    ask: (model) => ({ model, messages, system: 'Be brief.' }),
    headers: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'token-counting-2024-11-01' },
    asked: {
      path: '/v1/messages/count_tokens',
      body: {
        model: 'm',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Tell me a story.' }] }],
        system: 'Be brief.',
      },
    },
    seven: { input_tokens: 7 },
    detailed: { input_tokens: 7, context_management: { original_input_tokens: 90 } },
  },
  {
    protocol: 'gemini',
    path: (model) => `/models/${model}:countTokens`,
    ask: () => ({ contents }),
    headers: {},
    asked: {
      path: '/v1beta/models/m:countTokens',
      body: { generateContentRequest: { model: 'models/m', contents } },
    },
    seven: { totalTokens: 7, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }] },
    detailed: {
      totalTokens: 7,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 3 },
        { modality: 'IMAGE', tokenCount: 4 },
      ],
      cachedContentTokenCount: 2,
    },
  },
];

describe.each(COUNTING)('$protocol', ({ protocol, path, ask, headers, asked, seven, detailed }) => {
  const native = `one/${protocol.split('-').at(-1)}`;
  const up = dialect(protocol, 'up-0001');
  const post = (model: string, body = ask(model)): Promise<Response> =>
    scene.gateway.post(path(model), body, headers);
  const expectEstimate = async (response: Response): Promise<void> => {
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-estimated')).toBe('true');
    const body: unknown = await response.json();
    const tokens = Number(at(body, 'input_tokens') ?? at(body, 'totalTokens'));
    // Four words and a stop, and what stands around them.
    expect(tokens).toBeGreaterThan(5);
    expect(tokens).toBeLessThan(25);
  };

  test('the upstream counts', async () => {
    const upstream = scene.upstream('up');
    upstream.script(whole(seven));
    const response = await post(native);
    expect(await response.json()).toEqual(seven);
    expect(response.headers.get('x-dragoman-estimated')).toBeNull();
    expect(response.headers.get('x-dragoman-provider')).toBe('up');
    expect(response.headers.get('x-request-id')).toMatch(/^\w{32}$/);
    const [request] = upstream.requests;
    expect([request?.path, request?.json]).toEqual([asked.path, asked.body]);
    expect(request?.headers).toMatchObject(headers);
  });

  test('details of the count reach clients of the same protocol', async () => {
    scene.upstream('up').script(whole(detailed));
    expect(await (await post(native)).json()).toEqual(detailed);
  });

  test('an upstream of another protocol is not called', async () => {
    scene.upstream('up').script();
    await expectEstimate(await post('one/chat'));
    expect(scene.upstream('up').requests).toEqual([]);
  });

  test.each([404, 405, 429, 401, 500])(
    'if the upstream returns %d, the count is an estimate',
    async (status) => {
      scene.upstream('up').script(up.error(status));
      await expectEstimate(await post(native));
    },
  );

  test('the count is an estimate after a response without a number, a lost connection or a timeout', async () => {
    const upstream = scene.upstream('up');
    upstream.script(whole({ nothing: true }), (exchange) => exchange.cut(), silence);
    await expectEstimate(await post(native));
    // A request on a connection that was idle would be sent again.
    await upstream.dropConnections();
    await expectEstimate(await post(native));
    const late = post(native);
    await upstream.arrived(3);
    clock.advance(10_100);
    await expectEstimate(await late);
  });

  test('mistakes of the client are reported, whether the gateway or the upstream finds them', async () => {
    scene.upstream('up').script(up.error(400));
    const theirs = await post(native);
    expect(theirs.status).toBe(400);
    const reported = JSON.stringify(await theirs.json());
    expect(reported).toContain('scripted 400');
    expect(reported).toContain(protocol === 'gemini' ? 'INVALID_ARGUMENT' : 'invalid_request_error');
    for (const [model, body, status] of [
      [native, { ...ask(native), messages: 1, contents: 1 }, 400],
      ['one/nothing', ask('one/nothing'), 404],
    ] as const)
      expect((await post(model, body)).status).toBe(status);
  });

  test('a client that leaves is not counted for', async () => {
    const upstream = scene.upstream('up');
    upstream.script(silence);
    const leaving = new AbortController();
    const gone = fetch(scene.gateway.baseURL + path(native), {
      method: 'POST',
      headers: { ...headers, 'x-api-key': scene.gateway.key },
      body: JSON.stringify(ask(native)),
      signal: leaving.signal,
    }).catch((error: unknown) => error);
    const { closed } = await upstream.arrived(1);
    leaving.abort();
    await closed;
    expect(await gone).toHaveProperty('name', 'AbortError');
  });
});

test('tools count, and all bases have it', async () => {
  const tools = [
    {
      name: 'get_weather',
      description: 'Weather of a city',
      input_schema: { type: 'object', properties: {} },
    },
  ];
  const counts: number[] = [];
  for (const base of ['', '/api', '/api/anthropic']) {
    const client = new Anthropic({ apiKey: scene.gateway.key, baseURL: scene.gateway.origin + base });
    const asking = { model: 'one/chat', messages: [{ role: 'user' as const, content: 'Hi' }] };
    const { input_tokens: without } = await client.messages.countTokens(asking);
    const { input_tokens: all } = await client.messages.countTokens({ ...asking, tools: tools as never });
    expect(all).toBeGreaterThan(without + 10);
    counts.push(all);
  }
  expect(new Set(counts).size).toBe(1);
});

describe('counts across protocols', () => {
  const system = 'Be brief.';
  const said = 'Tell me a story.';
  const name = 'get_weather';
  const schema = { type: 'object', properties: { city: { type: 'string' } } };
  /** The same request as each protocol says it, where it counts. */
  const CLIENTS = {
    'anthropic-messages': {
      path: (): string => '/messages/count_tokens',
      ask: (model: string): object => ({ model, messages, system, tools: [{ name, input_schema: schema }] }),
      reported: { input_tokens: 7 },
    },
    'openai-responses': {
      path: (): string => '/responses/input_tokens',
      ask: (model: string): object => ({
        model,
        input: said,
        instructions: system,
        tools: [{ type: 'function', name, parameters: schema, strict: false }],
      }),
      reported: { object: 'response.input_tokens', input_tokens: 7 },
    },
    gemini: {
      path: (model: string): string => `/models/${model}:countTokens`,
      ask: (): object => ({
        generateContentRequest: {
          contents,
          systemInstruction: { parts: [{ text: system }] },
          tools: [{ functionDeclarations: [{ name, parametersJsonSchema: schema }] }],
        },
      }),
      reported: { totalTokens: 7, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }] },
    },
  } as const;
  const UPSTREAMS = {
    'anthropic-messages': ['/v1/messages/count_tokens', { input_tokens: 7 }],
    'openai-responses': ['/v1/responses/input_tokens', { object: 'response.input_tokens', input_tokens: 7 }],
    gemini: ['/v1beta/models/m:countTokens', { totalTokens: 7 }],
  } as const;
  const names = Object.keys(CLIENTS) as (keyof typeof CLIENTS)[];
  const pairs = names.flatMap((client) => names.map((upstream) => [client, upstream] as const));

  test.each(pairs)('reach a client of %s from an upstream of %s', async (client, upstream) => {
    const { path, ask, reported } = CLIENTS[client];
    const [at, counted] = UPSTREAMS[upstream];
    const model = `one/${upstream.split('-').at(-1)}`;
    const up = scene.upstream('up');
    up.script(whole(counted));
    const response = await scene.gateway.post(path(model), ask(model));
    expect([response.status, await response.json()]).toEqual([200, reported]);
    expect(response.headers.get('x-dragoman-estimated')).toBeNull();
    expect(response.headers.get('x-dragoman-provider')).toBe('up');
    const [request] = up.requests;
    expect(request?.path).toBe(at);
    for (const words of [system, said, name, 'city']) expect(request?.text).toContain(words);
    for (const member of ['max_tokens', 'max_output_tokens', '"store"', '"stream"', '"include"'])
      expect(request?.text).not.toContain(member);
    // The client cannot mend what a translation is refused for.
    if (client === upstream) return;
    up.script(whole({ error: { message: 'no', type: 'invalid_request_error' } }, 400));
    const refused = await scene.gateway.post(path(model), ask(model));
    expect([refused.status, refused.headers.get('x-dragoman-estimated')]).toEqual([200, 'true']);
  });

  test('content that an upstream would need first is estimated', async () => {
    const up = scene.upstream('up');
    up.script();
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const response = await scene.gateway.post('/messages/count_tokens', {
      model: 'one/gemini',
      messages: [{ role: 'user', content: [image] }],
    });
    expect([response.status, response.headers.get('x-dragoman-estimated')]).toEqual([200, 'true']);
    expect(up.requests).toEqual([]);
  });

  test('a turn that names an earlier one is counted with it', async () => {
    const up = scene.upstream('up');
    const { whole: answer } = dialect('openai-responses', 'up-0001');
    up.script(whole(answer('Once upon a time.')), whole({ input_tokens: 40 }));
    const model = 'one/responses';
    const first = await (await scene.gateway.post('/responses', { model, input: said })).json();
    const response = await scene.gateway.post('/responses/input_tokens', {
      model,
      input: 'Go on.',
      previous_response_id: at(first, 'id'),
    });
    expect(await response.json()).toEqual({ object: 'response.input_tokens', input_tokens: 40 });
    const asked = up.requests.at(-1);
    for (const words of [said, 'Once upon a time.', 'Go on.']) expect(asked?.text).toContain(words);
    expect(asked?.text).not.toContain('previous_response_id');
  });
});

test('Bedrock counts in the form of Converse, for the model of a profile', async () => {
  const upstream = scene.upstream('up');
  await using gateway = await startGateway({
    providers: { bedrock: { api_key: 'sk-test', region: 'r', base_url: upstream.origin } },
  });
  const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'token-counting-2024-11-01' };
  const count = (model: string): Promise<Response> =>
    gateway.post('/messages/count_tokens', { model, messages, system: 'Be brief.' }, headers);
  for (const id of ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'anthropic.claude-haiku-4-5']) {
    upstream.script(whole({ inputTokens: 14 }));
    const response = await count(`bedrock/${id}`);
    expect(await response.json()).toEqual({ input_tokens: 14 });
    expect(response.headers.get('x-dragoman-estimated')).toBeNull();
    const [request] = upstream.requests;
    expect(request?.path).toBe(`/model/${encodeURIComponent(id.replace('us.', ''))}/count-tokens`);
    expect(request?.json).toEqual({
      input: {
        converse: {
          messages: [{ role: 'user', content: [{ text: 'Tell me a story.' }] }],
          system: [{ text: 'Be brief.' }],
        },
      },
    });
  }
  upstream.script(whole({ message: "The provided model doesn't support counting tokens." }, 400));
  const refused = await count('bedrock/anthropic.claude-haiku-4-5');
  expect([refused.status, refused.headers.get('x-dragoman-estimated')]).toEqual([200, 'true']);
});
