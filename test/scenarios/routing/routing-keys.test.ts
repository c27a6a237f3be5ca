// The members that steer routing: none of them reaches an upstream, in either lane and over any protocol; and a wrong
// value is a 400 that names it and says what is allowed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { startScene, UPSTREAM_KEY, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/scripted-upstream.ts';

/** Every member, each with a legal value. */
const STEERING = {
  provider: {
    routing: { type: 'priority', primary_factor: 'cost', providers: ['up', 'spare'] },
    fallback: ['up', 'all/chat'],
    only: ['up', 'spare'],
    ignore: ['nobody'],
    order: ['up'],
    sort: 'price',
    allow_fallbacks: true,
    require_parameters: false,
    max_price: { prompt: 1000, completion: 1000, request: 10 },
    stream_safety: 'error',
    hedge: false,
    timeout_ms: 60_000,
    first_token_timeout_ms: 30_000,
    idle_timeout_ms: 30_000,
  },
  model_routing_config: {
    available_models: ['one/chat', 'one/responses', 'one/messages', 'exact/responses'],
    task_info: { task_type: 'chat', additional_properties: { team: 'a' } },
    additional_properties: { note: 'b' },
  },
  models: ['all/chat'],
  usage: { include: true },
};
const HEADERS = {
  'x-dragoman-timeout-ms': '60000',
  'x-dragoman-first-token-timeout-ms': '30000',
  'x-dragoman-idle-timeout-ms': '30000',
};

const text = { type: 'message', role: 'assistant', status: 'completed', id: 'msg_up' };
const output = [{ ...text, content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }];
const ANSWERS: Readonly<Record<string, object>> = {
  '/v1/chat/completions': chatBody('Hi'),
  '/v1/responses': responsesBody(output),
  '/v1/messages': messagesBody([{ type: 'text', text: 'Hi' }], 'end_turn'),
};

let translate: Scene;
let relay: Scene;
/** Follows the Responses API to the letter. */
let exact: ScriptedUpstream;
beforeAll(async () => {
  translate = await startScene(['up', 'spare']);
  exact = await startUpstream();
  const responses = { base_url: `${exact.origin}/v1`, faithful: true };
  relay = await startScene(['up', 'spare'], {
    faithful: true,
    config: {
      providers: { exact: { api_key: UPSTREAM_KEY, protocols: { 'openai-responses': responses } } },
      models: [
        {
          id: 'exact/responses',
          price: { input: 1, output: 4 },
          endpoints: [{ provider: 'exact', model: 'm' }],
        },
      ],
    },
  });
  for (const upstream of upstreams())
    upstream.always((exchange) => whole(ANSWERS[exchange.request.path] ?? {})(exchange));
});
afterEach(() => {
  for (const upstream of upstreams()) upstream.requests.length = 0;
});
afterAll(async () => {
  await Promise.all([translate, relay].map((scene) => scene[Symbol.asyncDispose]()));
  await exact.stop();
});

const upstreams = (): ScriptedUpstream[] => [translate.upstream('up'), relay.upstream('up'), exact];

/** Sends it and returns what the upstream got. */
async function arrived(
  scene: Scene,
  path: string,
  body: object,
  lane: string,
  steering: object = STEERING,
): Promise<unknown> {
  const response = await scene.gateway.post(path, { ...body, ...steering }, HEADERS);
  const answer = await response.text();
  expect([response.status, response.status === 200 ? '' : answer]).toEqual([200, '']);
  expect(response.headers.get('x-dragoman-lane')).toBe(lane);
  const [request] = upstreams().flatMap(({ requests }) => requests);
  const names = Object.keys(request?.headers ?? {}).filter((name) => name.startsWith('x-dragoman'));
  expect(names).toEqual([]);
  return request?.json;
}

const CHAT = { messages: [{ role: 'user', content: 'Hello' }] };
const RESPONSES = { input: 'Hello', store: false };

test.each<[string, string, object]>([
  ['/chat/completions', 'one/chat', CHAT],
  ['/chat/completions', 'one/responses', CHAT],
  ['/chat/completions', 'one/messages', CHAT],
  ['/responses', 'one/chat', RESPONSES],
  ['/responses', 'one/responses', RESPONSES],
  ['/responses', 'one/messages', RESPONSES],
])('%s to %s is translated without members for routing', async (path, model, body) => {
  const asked = await arrived(translate, path, { ...body, model }, 'translate');
  expect(at(asked, 'model')).toBe('m');
  for (const name of Object.keys(STEERING)) expect(at(asked, name)).toBeUndefined();
  expect(JSON.stringify(asked)).not.toMatch(/routing|provider|fallback|available_models|max_price/);
});

test('Chat Completions, relayed: every other byte is the client’s', async () => {
  const body = { model: 'one/chat', ...CHAT, brand_new: { a: 1 } };
  expect(await arrived(relay, '/chat/completions', body, 'relay')).toEqual({ ...body, model: 'm' });
});

test('a relayed Responses request reaches its upstream without members for routing', async () => {
  const body = { model: 'exact/responses', ...RESPONSES, brand_new: { a: 1 } };
  const wishes = {
    ...STEERING.provider,
    routing: undefined,
    only: ['exact'],
    order: ['exact'],
    fallback: true,
  };
  const asked = await arrived(relay, '/responses', { ...body }, 'relay', { ...STEERING, provider: wishes });
  expect(asked).toEqual({ ...body, model: 'm' });
});

describe('refused by name', () => {
  const provider = (members: object): object => ({ provider: members });
  const routing = (members: object): object => provider({ routing: members });
  const task = (members: object): object => ({ model_routing_config: { task_info: members } });
  const TYPES = 'priority, order, round_robin, least_latency';
  const FACTORS = 'cost, price, speed, latency, throughput, quality';
  test.each<[string, object, string]>([
    ['provider', { provider: 'openai' }, 'object'],
    ['provider', { provider: [] }, 'object'],
    ['provider.routing', routing([]), 'object'],
    ['provider.routing.type', routing({}), TYPES],
    ['provider.routing.type', routing({ type: 'fastest' }), TYPES],
    ['provider.routing.type', routing({ type: 1 }), TYPES],
    ['provider.routing.primary_factor', routing({ type: 'priority', primary_factor: 'luck' }), FACTORS],
    ['provider.routing.providers', routing({ type: 'priority', providers: [] }), 'must not be empty'],
    ['provider.routing.providers', routing({ type: 'priority', providers: 'up' }), 'array'],
    ['provider.routing.providers[1]', routing({ type: 'priority', providers: ['up', null] }), 'required'],
    ['provider.sort', provider({ sort: 'luck' }), FACTORS],
    ['provider.sort.by', provider({ sort: { by: 'luck' } }), FACTORS],
    ['provider.order', provider({ order: [] }), 'must not be empty'],
    ['provider.only', provider({ only: 'up' }), 'array'],
    ['provider.ignore', provider({ ignore: Array.from({ length: 101 }, (_, n) => `p${n}`) }), '100 names'],
    ['provider.fallback', provider({ fallback: 1 }), 'true, false, a provider, a provider/endpoint, a model'],
    [
      'provider.fallback',
      provider({ fallback: {} }),
      'true, false, a provider, a provider/endpoint, a model',
    ],
    [
      'provider.fallback',
      provider({ fallback: '' }),
      'true, false, a provider, a provider/endpoint, a model',
    ],
    ['provider.fallback', provider({ fallback: 'TRUE' }), 'true, false, one of up, or a model'],
    ['provider.allow_fallbacks', provider({ allow_fallbacks: 'no' }), 'true or false'],
    ['provider.require_parameters', provider({ require_parameters: 1 }), 'true or false'],
    ['provider.max_price', provider({ max_price: 3 }), 'object'],
    ['provider.max_price.prompt', provider({ max_price: { prompt: '3' } }), 'number'],
    ['provider.max_price.completion', provider({ max_price: { completion: -1 } }), '0'],
    ['provider.stream_safety', provider({ stream_safety: 'yes' }), 'error, buffer, continue'],
    ['provider.hedge', provider({ hedge: 'yes' }), 'true or false'],
    ['provider.timeout_ms', provider({ timeout_ms: 0 }), '1'],
    ['provider.first_token_timeout_ms', provider({ first_token_timeout_ms: 1.5 }), 'integer'],
    ['provider.idle_timeout_ms', provider({ idle_timeout_ms: '9' }), 'integer'],
    ['models', { models: 'one/chat' }, 'array'],
    ['models[0]', { models: ['one/caht'] }, 'Did you mean one/chat'],
    ['model_routing_config', { model_routing_config: [] }, 'object'],
    ['model_routing_config.available_models', { model_routing_config: { available_models: 'a' } }, 'array'],
    ['model_routing_config.preference', { model_routing_config: { preference: 5 } }, 'string'],
    ['model_routing_config.task_info', task([]), 'object'],
    ['model_routing_config.task_info.complexity', task({ complexity: 'very' }), 'low, medium, high'],
    ['model_routing_config.task_info.task_type', task({ task_type: 'poem' }), 'chat, completion'],
    ['model_routing_config.task_info.additional_properties', task({ additional_properties: 1 }), 'object'],
    ['usage.include', { usage: {} }, 'required'],
  ])('%s is refused in %j', async (param, body, allowed) => {
    for (const [path, own] of [
      ['/chat/completions', CHAT],
      ['/responses', RESPONSES],
    ] as const) {
      const response = await translate.gateway.post(path, { model: 'one/chat', ...own, ...body });
      const answer: unknown = await response.json();
      expect([response.status, at(answer, 'error', 'param')]).toEqual([400, param]);
      expect(String(at(answer, 'error', 'message'))).toContain(allowed);
    }
    expect(translate.upstream('up').requests).toEqual([]);
  });

  test('all mistakes are reported at once', async () => {
    const wrong = { routing: { type: 'a', primary_factor: 'b' }, max_price: { prompt: -1 } };
    const response = await translate.gateway.post('/chat/completions', {
      model: 'one/chat',
      ...CHAT,
      provider: wrong,
    });
    const message = String(at(await response.json(), 'error', 'message'));
    for (const name of ['routing.type', 'routing.primary_factor', 'max_price.prompt'])
      expect(message).toContain(name);
  });
});

test('the documentation lists every member', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'routing.md'), 'utf8');
  const { routing, ...members } = STEERING.provider;
  const { task_info, ...config } = STEERING.model_routing_config;
  const names = [members, routing, task_info, config].flatMap((object) => Object.keys(object));
  expect(names.filter((name) => !new RegExp(`[\\x60.]${name}\\x60`).test(page))).toEqual([]);
  for (const header of Object.keys(HEADERS)) expect(page).toContain(`\`${header}\``);
});

test('an unknown member is reported, not refused', async () => {
  const body = {
    model: 'one/chat',
    ...CHAT,
    provider: { data_collection: 'deny', routing: { type: 'order', weight: 1 } },
  };
  const response = await translate.gateway.post('/chat/completions', body);
  await response.text();
  expect(response.status).toBe(200);
  const report = response.headers.get('x-dragoman-report') ?? '';
  expect(report.split(',').map((entry) => entry.trim())).toEqual([
    'provider.data_collection:dropped',
    'provider.routing.weight:dropped',
  ]);
  expect(list(translate.upstream('up').requests[0]?.json, 'messages')).toHaveLength(1);
});
