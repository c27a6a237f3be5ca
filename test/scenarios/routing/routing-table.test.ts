// The route table: `/route/explain` says what the request then does, the record keeps the same words, and endpoints that
// are unavailable say why and until when.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { chatBody, chatError, whole } from '../../support/upstreams/answers.ts';
import { recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { chat, down, endpoint, explained, good, MESSAGES, slugs, startRouting } from './routing-scene.ts';

const MODEL = 'house/one';
const scene = await startRouting({
  routing: { breaker: { failures: 3, window_ms: 30_000, open_ms: 15_000 } },
  models: [
    {
      id: MODEL,
      endpoints: [
        endpoint('east', { price: { input: 4, output: 16 } }),
        endpoint('west', { price: { input: 1, output: 4 } }),
        endpoint('north'),
      ],
    },
    { id: 'house/two', price: { input: 9, output: 9 }, endpoints: [endpoint('north', { model: 'two' })] },
  ],
});
beforeEach(() => scene.forget());
afterAll(() => scene[Symbol.asyncDispose]());

/** Sends a request. @returns the table that was kept with its record */
async function kept(body: object): Promise<Json | undefined> {
  const response = await scene.gateway.post('/chat/completions', {
    model: MODEL,
    messages: MESSAGES,
    ...body,
  });
  await response.text();
  return at(await recordOf(scene.gateway, response), 'route');
}

const row = async (name: string): Promise<Json | undefined> =>
  list(await explained(scene, { model: MODEL }), 'candidates').find(
    (entry) => at(entry, 'endpoint') === name,
  );

describe('the explanation matches what happens', () => {
  test.each<[string, object]>([
    ['no routing options', {}],
    ['by price', { provider: { sort: 'price', max_price: { prompt: 3 }, fallback: 'true' } }],
    ['in turn', { provider: { routing: { type: 'round_robin' } } }],
    ['by latency, exploring', { provider: { routing: { type: 'least_latency' } } }],
    ['one model after another', { models: ['house/two:north', 'one/chat'] }],
    [
      'a choice among models',
      {
        model: 'auto',
        model_routing_config: { available_models: [MODEL, 'house/two', 'house/none'], preference: 'price' },
      },
    ],
    ['no stand-in', { provider: { ignore: ['east'], fallback: 'false' } }],
  ])('%s', async (_, body) => {
    scene.answer('east', down);
    const plan = await explained(scene, { model: MODEL, ...body });
    // Asking again changes nothing.
    expect(await explained(scene, { model: MODEL, ...body })).toEqual(plan);
    expect(scene.asked).toEqual([]);
    expect(await kept(body)).toEqual(plan as Json);
    const tried = slugs(plan).slice(0, scene.asked.length);
    expect(scene.asked.map((entry) => entry.split('/')[0])).toEqual(tried.map(String));
  });

  test('an explanation takes no turn and explores no endpoint', async () => {
    const round = { model: MODEL, provider: { routing: { type: 'round_robin' } } };
    const least = { model: MODEL, provider: { routing: { type: 'least_latency' } } };
    for (const only of [['east'], ['west'], ['north']])
      await chat(scene, { model: MODEL, provider: { only } });
    scene.clock.advance(60_000);
    const before = [slugs(await explained(scene, round)), slugs(await explained(scene, least))];
    for (let n = 0; n < 50; n += 1) {
      await explained(scene, round);
      await explained(scene, least);
    }
    expect([slugs(await explained(scene, round)), slugs(await explained(scene, least))]).toEqual(before);
  });
});

test('an open choice counts the excluded models, and lists them on request', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  const body = { model: 'auto', messages: [{ role: 'user', content: [image] }] };
  const { status, json } = await chat(scene, body);
  expect(status).toBe(400);
  expect(at(json, 'error', 'message')).toContain('does not support image input');
  const table = await kept({ model: 'auto' });
  const plan = await explained(scene, { model: 'auto' });
  expect(list(table, 'candidates').length).toBeGreaterThan(3);
  expect(at(table, 'models')).toEqual(at(plan, 'models') as Json);
  expect(slugs(table)).toEqual(slugs(plan));
});

describe('an endpoint that fails', () => {
  test('is unavailable after three failures, is probed with one request after its pause, and is available again', async () => {
    scene.answer('east', down);
    for (let n = 0; n < 3; n += 1) await chat(scene, { model: MODEL });
    expect(await row('east')).toMatchObject({
      position: 3,
      state: 'open',
      reason: 'unavailable: 3 failures in 30 s (upstream_unavailable)',
      success_rate: 0,
    });
    scene.asked.length = 0;
    for (let n = 0; n < 5; n += 1) await chat(scene, { model: MODEL });
    expect(scene.asked).toEqual(Array.from({ length: 5 }, () => 'west'));

    scene.clock.advance(15_000);
    expect(await row('east')).toMatchObject({ position: 1, state: 'half-open' });
    // Still down: one request finds out, and gets its answer elsewhere.
    scene.asked.length = 0;
    for (let n = 0; n < 3; n += 1) expect((await chat(scene, { model: MODEL })).status).toBe(200);
    expect(scene.asked).toEqual(['east', 'west', 'west', 'west']);
    expect(at(await row('east'), 'reason')).toBe(
      'unavailable: failed again in a trial request (upstream_unavailable)',
    );

    scene.clock.advance(15_000);
    scene.answer('east', good);
    scene.asked.length = 0;
    for (let n = 0; n < 3; n += 1) await chat(scene, { model: MODEL });
    expect(scene.asked).toEqual(['east', 'east', 'east']);
    expect(await row('east')).toMatchObject({ position: 1, state: 'closed' });
  });

  test('is still tried if there is no other endpoint', async () => {
    scene.answer('east', down);
    for (let n = 0; n < 3; n += 1) await chat(scene, { model: MODEL });
    scene.answer('east', good);
    scene.asked.length = 0;
    const { status } = await chat(scene, { model: MODEL, provider: { only: ['east'] } });
    expect([status, ...scene.asked]).toEqual([200, 'east']);
  });

  test('stays first if an order says so and fallbacks are restricted', async () => {
    scene.answer('east', chatError(429, { 'retry-after': '60' }));
    const ask = (provider: object) => chat(scene, { model: MODEL, provider });
    expect((await ask({ fallback: 'false' })).status).toBe(429);
    scene.asked.length = 0;
    expect((await ask({ fallback: 'false' })).status).toBe(429);
    expect((await ask({ order: ['east'], allow_fallbacks: false })).status).toBe(429);
    expect(scene.asked).toEqual(['east', 'east']);
    // The named provider stands in for the first, and the second is left out as it is when the first is well.
    const named = await explained(scene, { model: MODEL, provider: { fallback: 'north' } });
    expect(slugs(named)).toEqual(['north', 'east']);
    scene.asked.length = 0;
    expect((await ask({ fallback: 'false', routing: { type: 'round_robin' } })).status).toBe(200);
    expect((await ask({ fallback: 'true' })).status).toBe(200);
    expect(scene.asked).not.toContain('east');
  });

  test('is tried after the fallbacks of the request', async () => {
    scene.answer('east', down);
    for (let n = 0; n < 3; n += 1) await chat(scene, { model: MODEL });
    const provider = { only: ['east'], fallback: 'house/two' };
    expect(slugs(await explained(scene, { model: MODEL, provider }))).toEqual(['north', 'east']);
  });
});

test('an unavailable fallback also comes last, with the reason', async () => {
  scene.answer('west', down);
  const west = { model: MODEL, provider: { only: ['west'] } };
  for (let n = 0; n < 3; n += 1) await chat(scene, west);
  const table = await explained(scene, { model: MODEL, provider: { fallback: ['west', 'north'] } });
  expect(slugs(table)).toEqual(['east', 'north', 'west']);
  expect(at(table, 'candidates', -1, 'reason')).toStartWith('unavailable: 3 failures');
});

describe('a limit that an upstream announces', () => {
  test.each<[string, Readonly<Record<string, string>>]>([
    ['requests', { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '20s' }],
    ['tokens', { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '20s' }],
  ])('%s in the headers of a successful response: the endpoint is skipped until then', async (_, headers) => {
    scene.answer('east', whole(chatBody('Hello'), 200, headers));
    expect((await chat(scene, { model: MODEL })).headers.get('x-dragoman-provider')).toBe('east');
    const until = new Date(scene.clock.now() + 20_000).toISOString();
    expect(await row('east')).toMatchObject({
      position: 3,
      state: 'open',
      reason: `unavailable: rate limited until ${until}`,
      success_rate: expect.closeTo(1, 2),
    });
    scene.asked.length = 0;
    await chat(scene, { model: MODEL });
    scene.clock.advance(20_000);
    await chat(scene, { model: MODEL });
    expect(scene.asked).toEqual(['west', 'east']);
  });

  test('a 429 with its retry-after: the same', async () => {
    scene.answer('east', chatError(429, { 'retry-after': '30' }));
    expect((await chat(scene, { model: MODEL })).headers.get('x-dragoman-provider')).toBe('west');
    expect(await row('east')).toMatchObject({ position: 3, state: 'open' });
    scene.clock.advance(30_000);
    expect(await row('east')).toMatchObject({ position: 1, state: 'closed' });
  });

  test('an endpoint with some of its limit left is still used', async () => {
    scene.answer('east', whole(chatBody('Hello'), 200, { 'x-ratelimit-remaining-requests': '1' }));
    await chat(scene, { model: MODEL });
    expect(await row('east')).toMatchObject({ position: 1, state: 'closed' });
  });
});
