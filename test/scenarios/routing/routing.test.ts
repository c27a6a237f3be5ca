// Order of trying under `provider`, shown by who is asked over real sockets when nobody answers: the order of trying is
// the decision.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { TEST_KEY } from '../../support/harness.ts';
import { chatError, silence } from '../../support/upstreams/answers.ts';
import { recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';
import {
  chat,
  down,
  endpoint,
  explained,
  good,
  MESSAGES,
  slugs,
  startRouting,
  triedFor,
  type RoutingScene,
} from './routing-scene.ts';

const CHEAP_KEY = 'sk-test-cheap';
const MODEL = 'house/one';
const scene = await startRouting({
  keys: [
    { name: 'test', key: TEST_KEY },
    { name: 'cheap', key: CHEAP_KEY, routing: { type: 'priority', primary_factor: 'cost' } },
  ],
  routing: { timeouts: { response_ms: 1000 } },
  models: [
    {
      id: MODEL,
      quality: 0.3,
      endpoints: [
        endpoint('east', { price: { input: 4, output: 16 }, unsupported: ['logit_bias'] }),
        endpoint('west', { price: { input: 1, output: 4, request: 0.01 }, quality: 0.9 }),
        endpoint('north', { quality: 0.6 }),
      ],
    },
    {
      id: 'house/deployments',
      endpoints: [
        endpoint('east', { name: 'fast', model: 'fast' }),
        endpoint('east', { name: 'slow', model: 'slow' }),
        endpoint('west'),
      ],
    },
    { id: 'house/colon:free', endpoints: [endpoint('east', { model: 'free' }), endpoint('north')] },
    { id: 'house/spare', endpoints: [endpoint('west', { model: 'spare' })] },
  ],
  aliases: { one: MODEL },
});
beforeEach(() => scene.forget());
afterAll(() => scene[Symbol.asyncDispose]());

const routing = (wishes: object): object => ({ provider: { routing: wishes } });

describe('the order of trying', () => {
  test.each<[string, object, string]>([
    ['without options is that of the configuration', {}, 'east west north'],
    ['an empty `provider`', { provider: {} }, 'east west north'],
    ['priority', routing({ type: 'priority' }), 'east west north'],
    ['its other name', routing({ type: 'order' }), 'east west north'],
    ['priority with a list', routing({ type: 'priority', providers: ['north', 'east'] }), 'north east'],
    [
      'order with a list',
      routing({ type: 'order', providers: ['west', 'north', 'east'] }),
      'west north east',
    ],
    ['a list without a type', routing({ providers: ['west', 'east'] }), 'west east'],
    ['names that stand twice', routing({ type: 'order', providers: ['west', 'west'] }), 'west'],
    ['cost', routing({ type: 'priority', primary_factor: 'cost' }), 'west east north'],
    ['price', routing({ type: 'priority', primary_factor: 'price' }), 'west east north'],
    ['a factor without a type', routing({ primary_factor: 'cost' }), 'west east north'],
    ['quality', routing({ type: 'priority', primary_factor: 'quality' }), 'west north east'],
    [
      'a factor within a list',
      routing({ type: 'priority', primary_factor: 'cost', providers: ['north', 'east', 'west'] }),
      'west east north',
    ],
    [
      'an unknown price goes last, also where it is listed first',
      routing({ type: 'priority', primary_factor: 'cost', providers: ['north', 'east'] }),
      'east north',
    ],
    ['sort', { provider: { sort: 'price' } }, 'west east north'],
    ['sort by quality', { provider: { sort: 'quality' } }, 'west north east'],
    ['sort as an object', { provider: { sort: { by: 'price' } } }, 'west east north'],
    ['order: these first, then the others', { provider: { order: ['north'] } }, 'north east west'],
    ['order, the others by a factor', { provider: { order: ['north'], sort: 'price' } }, 'north west east'],
    ['only: these, in the usual order', { provider: { only: ['north', 'east'] } }, 'east north'],
    ['ignore', { provider: { ignore: ['west'] } }, 'east north'],
    [
      'all of them at once',
      { provider: { order: ['north'], only: ['north', 'west', 'east'], ignore: ['west'] } },
      'north east',
    ],
    ['allow_fallbacks: false', { provider: { order: ['west'], allow_fallbacks: false } }, 'west'],
    ['allow_fallbacks: true', { provider: { allow_fallbacks: true } }, 'east west north'],
    ['a price limit', { provider: { max_price: { prompt: 1 } } }, 'west'],
    ['a limit for answers', { provider: { max_price: { completion: 16 } } }, 'east west'],
    ['a limit for requests', { provider: { max_price: { request: 0 } } }, 'east'],
    ['limits of the exact price', { provider: { max_price: { prompt: 4, completion: 16 } } }, 'east west'],
    ['require_parameters', { logit_bias: { 5: 1 }, provider: { require_parameters: true } }, 'west north'],
    ['without it', { logit_bias: { 5: 1 } }, 'east west north'],
    [
      'require_parameters without optional parameters',
      { provider: { require_parameters: true } },
      'east west north',
    ],
    ['an alias', { model: 'one', provider: { only: ['north'] } }, 'north'],
  ])('%s', async (_, body, order) => {
    expect((await triedFor(scene, { model: MODEL, ...body })).join(' ')).toBe(order);
    const table = await explained(scene, { model: MODEL, ...body });
    expect(slugs(table).join(' ')).toBe(order);
    expect(
      [...slugs(table), ...list(table, 'excluded').map((row) => at(row, 'endpoint'))].toSorted(),
    ).toEqual(['east', 'north', 'west']);
  });

  describe('slugs of providers and of their endpoints', () => {
    test.each<[string, object, string]>([
      ['a slug of a provider means all of its endpoints', { only: ['east'] }, 'east/fast east/slow'],
      ['a slug of an endpoint means that one', { only: ['east/slow', 'west'] }, 'east/slow west'],
      ['in a list', { routing: { type: 'order', providers: ['west', 'east/slow'] } }, 'west east/slow'],
      ['both kinds', { routing: { type: 'order', providers: ['east/slow', 'east'] } }, 'east/slow east/fast'],
      ['to ignore', { ignore: ['east/fast'] }, 'east/slow west'],
      ['to prefer', { order: ['east/slow'] }, 'east/slow east/fast west'],
      ['to stand in', { only: ['west'], fallback: 'east/slow' }, 'west east/slow'],
    ])('%s', async (_, provider, order) => {
      expect((await triedFor(scene, { model: 'house/deployments', provider })).join(' ')).toBe(order);
    });
  });

  test.each<[string, string]>([
    ['house/one:west', 'west'],
    ['one:north', 'north'],
    ['house/deployments:east', 'east/fast east/slow'],
    ['house/deployments:east/slow', 'east/slow'],
    ['house/colon:free', 'east/free north'],
    ['house/colon:free:north', 'north'],
  ])('for the id %s is %s', async (model, order) => {
    expect((await triedFor(scene, { model })).join(' ')).toBe(order);
  });

  test('an unknown slug changes nothing, and is reported', async () => {
    const { status, headers } = await chat(scene, { model: MODEL, provider: { order: ['nobody', 'north'] } });
    expect([status, headers.get('x-dragoman-provider')]).toEqual([200, 'north']);
    expect(headers.get('x-dragoman-report')).toContain('provider.order[0]:dropped');
  });

  test('a provider that does not serve the model is skipped', async () => {
    const provider = { routing: { type: 'order', providers: ['north', 'west'] } };
    expect(await triedFor(scene, { model: 'house/deployments', provider })).toEqual(['west']);
  });

  test('models are tried in turn, each with all its endpoints that match the request', async () => {
    const body = { model: 'house/spare', models: ['house/one:north', 'house/deployments'] };
    expect(await triedFor(scene, body)).toEqual(['west/spare', 'north', 'east/fast', 'east/slow', 'west']);
    const provider = { ignore: ['east'] };
    expect(await triedFor(scene, { ...body, provider })).toEqual(['west/spare', 'north', 'west']);
  });

  test('models without a model: the first of them is the model', async () => {
    const body = { model: undefined, models: ['house/spare', 'house/one:north'] };
    expect(await triedFor(scene, body)).toEqual(['west/spare', 'north']);
  });
});

describe('fallbacks', () => {
  test.each<[string, object, string]>([
    ['"true"', { fallback: 'true' }, 'east west north'],
    ['true', { fallback: true }, 'east west north'],
    ['"false"', { fallback: 'false' }, 'east'],
    ['false', { fallback: false }, 'east'],
    ['a provider', { fallback: 'north' }, 'east north'],
    ['the first choice itself', { fallback: 'east' }, 'east'],
    ['a model', { fallback: 'house/spare' }, 'east west north west/spare'],
    ['a model by its alias, with a provider', { fallback: 'house/one:west' }, 'east west north'],
    ['a model, then a provider', { fallback: ['house/spare', 'north'] }, 'east west/spare north'],
    [
      'a list of models',
      { fallback: ['house/spare', 'house/colon:free'] },
      'east west north west/spare east/free north',
    ],
    [
      'a provider outside of the list',
      { routing: { type: 'order', providers: ['west'] }, fallback: 'north' },
      'west north',
    ],
    ['a model outside of the list', { only: ['north'], fallback: 'house/spare' }, 'north west/spare'],
    [
      'a model of which some are in the list',
      { only: ['north'], fallback: 'house/colon:free' },
      'north north',
    ],
    ['a model too dear', { max_price: { request: 0 }, fallback: 'house/spare' }, 'east'],
    ['providers and a model', { fallback: ['north', 'house/spare'] }, 'east north west/spare'],
  ])('%s', async (_, provider, order) => {
    expect((await triedFor(scene, { model: MODEL, provider })).join(' ')).toBe(order);
  });

  const late: Answer = (exchange) => {
    silence(exchange);
    scene.clock.advance(1200);
  };
  const FAILURES: readonly [string, Answer, boolean][] = [
    ['status 500', chatError(500), true],
    ['status 429', chatError(429, { 'retry-after': '60' }), true],
    ['a timeout', late, true],
    ['status 400', chatError(400), false],
  ];
  const FORMS: readonly [unknown, string][] = [
    ['true', 'west'],
    [true, 'west'],
    ['north', 'north'],
    ['house/spare', 'west'],
    [['north', 'house/spare'], 'north'],
    ['false', ''],
    [false, ''],
  ];
  const cases = FAILURES.flatMap(([title, answer, passes]) =>
    FORMS.map(([fallback, by]) => [title, fallback, passes ? by : '', answer] as const),
  );
  test.each(cases)('choose after %s with fallback %j: %s', async (_, fallback, by, answer) => {
    scene.answer('east', answer);
    const { status, headers } = await chat(scene, { model: MODEL, provider: { fallback } });
    expect(scene.asked).toEqual(by === '' ? ['east'] : ['east', by]);
    if (by === '') expect(status).not.toBe(200);
    else expect([status, headers.get('x-dragoman-provider')]).toEqual([200, by]);
  });

  test('the response names the model that was used', async () => {
    for (const name of ['east', 'north'] as const) scene.answer(name, down);
    scene.answer('west', (exchange) =>
      at(exchange.request.json, 'model') === 'spare' ? good(exchange) : down(exchange),
    );
    const asked = await chat(scene, { model: MODEL, provider: { fallback: 'house/spare' } });
    expect(asked.status).toBe(200);
    expect(at(asked.json, 'model')).toBe('house/spare');
    expect(asked.headers.get('x-dragoman-model')).toBe('house/spare');
    expect(asked.headers.get('x-dragoman-attempts')).toBe('4');
  });
});

describe('three levels of defaults', () => {
  const costly = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
  let levels: RoutingScene;
  beforeAll(async () => {
    levels = await startRouting({
      keys: [
        { name: 'test', key: TEST_KEY },
        { name: 'cheap', key: CHEAP_KEY, routing: { order: ['west'], fallback: 'false' } },
      ],
      routing: { default: { order: ['north'], ignore: ['east'], fallback: ['west'] } },
      models: [
        {
          id: 'house/priced',
          endpoints: [
            endpoint('north', { price: { input: 9, output: 9 } }),
            endpoint('west', { price: { input: 1, output: 1 } }),
          ],
        },
      ],
    });
  });
  afterAll(() => levels[Symbol.asyncDispose]());

  test.each<[string, string, object, string]>([
    ["the operator's", TEST_KEY, {}, 'north west'],
    ["the key's over the operator's", CHEAP_KEY, {}, 'west'],
    ["the request's over the key's", CHEAP_KEY, { fallback: true }, 'west north'],
    ['member by member', CHEAP_KEY, { order: ['north'] }, 'north'],
    [
      "the request's over all",
      CHEAP_KEY,
      { ignore: ['west'], order: ['north'], fallback: true },
      'north east',
    ],
    [
      "the request's over the operator's",
      TEST_KEY,
      { order: ['east'], ignore: ['north'], fallback: true },
      'east west',
    ],
  ])('%s', async (_, key, provider, order) => {
    const body = { model: 'all/chat', provider };
    expect((await triedFor(levels, body, costly(key))).join(' ')).toBe(order);
  });

  test('a factor of the request overrides an order of the defaults', async () => {
    const priced = (provider: object): Promise<string[]> =>
      triedFor(levels, { model: 'house/priced', provider: { fallback: true, ...provider } });
    expect(await priced({})).toEqual(['north', 'west']);
    expect(await priced({ sort: 'price' })).toEqual(['west', 'north']);
  });

  test("a type without a factor is not turned upside down by a default's factor", async () => {
    const headers = costly(CHEAP_KEY);
    expect(await triedFor(scene, { model: MODEL }, headers)).toEqual(['west', 'east', 'north']);
    const body = { model: MODEL, provider: { routing: { type: 'priority' } } };
    expect(await triedFor(scene, body, headers)).toEqual(['east', 'west', 'north']);
  });
});

describe('routing options', () => {
  test.each<[string, string, object, readonly string[]]>([
    [
      'are refused for a price that no endpoint has',
      'provider.max_price',
      { max_price: { prompt: 0.5 } },
      [
        'north: its prompt price is unknown',
        'east: its prompt price of 4 USD exceeds the maximum of 0.5 USD',
      ],
    ],
    [
      'are refused if only an unknown provider is allowed',
      'provider.only',
      { only: ['nobody'] },
      ['west: not in provider.only'],
    ],
    [
      'are refused if no listed provider serves the model',
      'provider.routing.providers',
      { routing: { type: 'order', providers: ['sim'] } },
      ['north: not in provider.routing.providers'],
    ],
    [
      'are refused if all providers are ignored',
      'provider.ignore',
      { ignore: ['east', 'west', 'north'] },
      ['in provider.ignore'],
    ],
    [
      'are refused for an unknown fallback',
      'provider.fallback',
      { fallback: 'nobody' },
      ['true, false, one of east, west, north, or a model'],
    ],
    [
      'are refused for a list with an unknown fallback',
      'provider.fallback',
      { fallback: ['north', 'nobody'] },
      ['"nobody" is neither a provider nor a model'],
    ],
    [
      'are refused for a fallback that serves another model',
      'provider.fallback',
      { fallback: 'sim' },
      ['sim does not serve house/one', 'east, west, north'],
    ],
  ])('%s', async (_, param, provider, parts) => {
    const { status, json } = await chat(scene, { model: MODEL, provider });
    expect([status, at(json, 'error', 'param')]).toEqual([400, param]);
    for (const part of parts) expect(at(json, 'error', 'message')).toContain(part);
    expect(scene.asked).toEqual([]);
  });

  test('refuses parameters that no endpoint supports', async () => {
    const provider = { only: ['east'], require_parameters: true };
    const { status, json } = await chat(scene, { model: MODEL, logit_bias: { 5: 1 }, provider });
    expect([status, at(json, 'error', 'param')]).toEqual([400, 'provider.require_parameters']);
    expect(at(json, 'error', 'message')).toContain('does not support logit_bias');
  });

  test.each<[string, string, readonly string[]]>([
    ['an endpoint of another model', 'house/one:sim', ['the model id names sim']],
    ['a misspelt provider', 'house/one:wset', ['house/one:wset', 'house/one']],
  ])('refuses %s after the model id', async (_, model, parts) => {
    const { status, json } = await chat(scene, { model });
    expect([status, at(json, 'error', 'param')]).toEqual([model.endsWith('sim') ? 400 : 404, 'model']);
    for (const part of parts) expect(at(json, 'error', 'message')).toContain(part);
  });
});

test('the routing decision is stored with the generation', async () => {
  const response = await scene.gateway.post('/chat/completions', {
    model: MODEL,
    messages: MESSAGES,
    provider: { sort: 'price', ignore: ['east'] },
  });
  await response.text();
  const route = at(await recordOf(scene.gateway, response), 'route');
  expect(slugs(route)).toEqual(['west', 'north']);
  expect(at(route, 'strategy', 'primary_factor')).toBe('cost');
  expect(list(route, 'excluded')).toEqual([{ model: MODEL, endpoint: 'east', reason: 'in provider.ignore' }]);
});
