// Members that OpenAI's two protocols share, over each other's upstreams: what arrives, what is reported, and what it costs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { chatBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import {
  providerAt,
  recordOf,
  startScene,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/scripted-upstream.ts';

const SHARED = {
  prompt_cache_key: 'session-1',
  prompt_cache_retention: '24h',
  safety_identifier: 'person-1',
  service_tier: 'flex',
  user: 'person-2',
};
const METADATA = { team: 'a' };
const BODIES = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Hello' }] },
  '/responses': { input: 'Hello', store: false },
};
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
};
type ClientPath = keyof typeof BODIES;

/** Answers in the form of the path that was asked. */
function answering(upstream: ScriptedUpstream): void {
  upstream.always((exchange) => {
    const isChat = exchange.request.path.endsWith('/chat/completions');
    whole(isChat ? chatBody('Hello') : responsesBody([MESSAGE]))(exchange);
  });
}

const scenes: Scene[] = [];
beforeAll(async () => {
  scenes.push(await startScene(['up'], { faithful: true }), await startScene(['up']));
});
afterAll(async () => {
  for (const scene of scenes) await scene[Symbol.asyncDispose]();
});

describe.each([
  ['faithful', 0],
  ['of no preset', 1],
] as const)('an upstream %s', (_name, index) => {
  async function ask(path: ClientPath, model: string, body: object): Promise<[Response, unknown, Scene]> {
    const scene = scenes[index];
    if (!scene) throw new Error('no scene');
    const upstream = scene.upstream('up');
    answering(upstream);
    const response = await scene.gateway.post(path, { model, ...BODIES[path], ...body });
    await response.text();
    return [response, upstream.requests.at(-1)?.json, scene];
  }

  test.each([
    ['/responses', 'one/chat'],
    ['/chat/completions', 'one/responses'],
    ['/responses', 'one/responses'],
    ['/chat/completions', 'one/chat'],
  ] as const)('%s over %s: every member arrives', async (path, model) => {
    const [response, sent] = await ask(path, model, SHARED);
    expect(response.status).toBe(200);
    expect(sent).toMatchObject(SHARED);
    expect(response.headers.get('x-dragoman-report')).toBeNull();
  });

  test('metadata goes to an upstream of Responses', async () => {
    for (const path of ['/responses', '/chat/completions'] as const) {
      const [response, sent] = await ask(path, 'one/responses', { metadata: METADATA });
      expect(at(sent, 'metadata')).toEqual(METADATA);
      expect(response.headers.get('x-dragoman-report')).toBeNull();
    }
  });

  test('metadata is not sent if Chat Completions would require stored responses', async () => {
    const [response, sent, { gateway }] = await ask('/responses', 'one/chat', { metadata: METADATA });
    expect(sent).not.toHaveProperty('metadata');
    expect(response.headers.get('x-dragoman-report')).toBe('metadata:dropped');
    expect(at(await recordOf(gateway, response), 'metadata')).toEqual(METADATA);
    const [chat, toChat] = await ask('/chat/completions', 'one/chat', { metadata: METADATA });
    expect(toChat).not.toHaveProperty('metadata');
    expect(chat.headers.get('x-dragoman-report')).toBeNull();
  });

  test('upstreams of other protocols do not get them, and that is reported', async () => {
    const [response] = await ask('/responses', 'one/gemini', { ...SHARED, metadata: METADATA });
    const report = response.headers.get('x-dragoman-report');
    for (const name of [...Object.keys(SHARED), 'metadata']) expect(report).toContain(`${name}:dropped`);
  });

  test('a member without meaning is no loss', async () => {
    const nothing = { user: null, service_tier: null, prompt_cache_key: null, metadata: {} };
    for (const path of ['/responses', '/chat/completions'] as const)
      for (const model of ['one/chat', 'one/responses', 'one/gemini']) {
        const [response] = await ask(path, model, nothing);
        expect(response.headers.get('x-dragoman-report') ?? '').not.toMatch(/user|tier|cache|metadata/);
      }
  });

  test('a tier that reaches the upstream has an unknown cost', async () => {
    const costs: unknown[] = [];
    for (const service_tier of ['default', 'priority']) {
      const [response, , { gateway }] = await ask('/responses', 'one/chat', { service_tier });
      costs.push(at(await recordOf(gateway, response), 'cost', 'usd'));
    }
    expect(costs).toEqual([expect.any(Number), null]);
  });

  test('the only id of a user is an identifier of Responses', async () => {
    const [, sent] = await ask('/chat/completions', 'one/responses', { user: 'person-2' });
    expect(at(sent, 'safety_identifier')).toBe('person-2');
    expect(sent).not.toHaveProperty('user');
  });
});

describe('presets of strict servers', () => {
  let upstream: ScriptedUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    const preset = { api_key: 'sk-test', base_url: `${upstream.origin}/v1` };
    gateway = await startGateway({
      providers: { mistral: preset, groq: preset, cerebras: preset, up: providerAt(upstream.origin) },
    });
    answering(upstream);
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.stop();
  });

  test.each([
    ['mistral/mistral-large-latest', { prompt_cache_key: 'session-1', metadata: METADATA }],
    ['groq/openai/gpt-oss-120b', { service_tier: 'flex', user: 'person-2' }],
    ['cerebras/gpt-oss-120b', { user: 'person-2' }],
  ])('%s gets the members in its documentation', async (model, expected) => {
    const all = { ...SHARED, metadata: METADATA };
    for (const path of ['/responses', '/chat/completions'] as const) {
      const response = await gateway.post(path, { model, ...BODIES[path], ...all });
      expect(response.status).toBe(200);
      await response.text();
      const sent = upstream.requests.at(-1)?.json as object;
      const arrived = Object.fromEntries(Object.entries(sent).filter(([name]) => name in all));
      expect(arrived).toEqual(expected);
      const report = response.headers.get('x-dragoman-report') ?? '';
      for (const name of Object.keys(SHARED))
        expect(report.includes(`${name}:dropped`)).toBe(!(name in expected));
    }
  });

  test('a value that the server does not support is removed', async () => {
    const body = { ...BODIES['/responses'], model: 'groq/openai/gpt-oss-120b', service_tier: 'priority' };
    const response = await gateway.post('/responses', body);
    expect(response.status).toBe(200);
    expect(upstream.requests.at(-1)?.json).not.toHaveProperty('service_tier');
    expect(response.headers.get('x-dragoman-report')).toBe('service_tier:dropped');
  });
});
