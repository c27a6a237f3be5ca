// Counting the input of a request: by the upstream where it counts, else estimated and marked so; in each protocol that
// has such an operation.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { startGateway } from './harness.ts';
import { silence, whole } from './upstreams/answers.ts';
import { ArmedClock } from './upstreams/armed-clock.ts';
import { dialect } from './upstreams/dialects.ts';
import { startScene, type Scene } from './upstreams/gateway-with-upstreams.ts';
import { at } from './upstreams/json-path.ts';

const clock = new ArmedClock();
let scene: Scene;
beforeAll(async () => {
  scene = await startScene(['up'], { clock });
});
afterEach(() => clock.advance(600_000));
afterAll(() => scene[Symbol.asyncDispose]());

interface Counting {
  readonly protocol: 'anthropic-messages' | 'gemini';
  /** Below `/v1`. */
  readonly path: (model: string) => string;
  readonly ask: (model: string) => object;
  readonly headers: Record<string, string>;
  /** What the upstream must be asked. */
  readonly asked: { readonly path: string; readonly body: object };
  /** The upstream's answer and the client's. */
  readonly seven: object;
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
  },
];

describe.each(COUNTING)('$protocol', ({ protocol, path, ask, headers, asked, seven }) => {
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

  test('an upstream of another protocol is not asked', async () => {
    scene.upstream('up').script();
    await expectEstimate(await post('one/chat'));
    expect(scene.upstream('up').requests).toEqual([]);
  });

  test.each([404, 405, 429, 401, 500])('an upstream that says %d makes it an estimate', async (status) => {
    scene.upstream('up').script(up.error(status));
    await expectEstimate(await post(native));
  });

  test('so do an answer without a number, a lost connection, and a long silence', async () => {
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

  test("the caller's mistakes are told, whoever finds them", async () => {
    scene.upstream('up').script(up.error(400));
    const theirs = await post(native);
    expect(theirs.status).toBe(400);
    const told = JSON.stringify(await theirs.json());
    expect(told).toContain('scripted 400');
    expect(told).toContain(protocol === 'gemini' ? 'INVALID_ARGUMENT' : 'invalid_request_error');
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

test('a host that does not count is not asked, neither at its addresses nor at those of the vendor', async () => {
  const upstream = scene.upstream('up');
  upstream.script();
  const gateway = await startGateway({
    providers: { bedrock: { api_key: 'sk-test', region: 'r', base_url: upstream.origin } },
  });
  try {
    const asking = { model: 'bedrock/anthropic.claude-sonnet-4-5', messages };
    const response = await gateway.post('/messages/count_tokens', asking, {
      'anthropic-version': '2023-06-01',
    });
    expect([response.status, response.headers.get('x-dragoman-estimated')]).toEqual([200, 'true']);
    expect(upstream.requests).toEqual([]);
  } finally {
    await gateway.close();
  }
});
