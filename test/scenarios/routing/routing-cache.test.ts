// A conversation returns to the endpoint that holds its prompt in its cache: after a failover it stays there while the
// cache lives, unless the client orders otherwise or the holder is not sound.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { TEST_KEY } from '../../support/harness.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import {
  chat,
  down,
  endpoint,
  explained,
  good,
  slugs,
  startRouting,
  type RoutingScene,
} from './routing-scene.ts';

const OTHER_KEY = 'sk-test-other';
const FIVE_MINUTES_MS = 300_000;
const SYSTEM = { role: 'system', content: 'Handbook of the caravan. '.repeat(400) };
const turns = (...contents: readonly string[]): object => ({
  model: 'all/chat',
  messages: [
    SYSTEM,
    ...contents.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content })),
  ],
});
const FIRST = turns('Where to?');
const SECOND = turns('Where to?', 'Hello', 'And then?');

let scene: RoutingScene;
beforeEach(async () => {
  scene = await startRouting({
    keys: [
      { name: 'test', key: TEST_KEY },
      { name: 'other', key: OTHER_KEY },
    ],
    routing: { breaker: { failures: 2, open_ms: 60_000 } },
    models: [
      { id: 'house/a', price: { input: 1, output: 4 }, endpoints: [endpoint('east', { model: 'a' })] },
      { id: 'house/b', price: { input: 2, output: 8 }, endpoints: [endpoint('west', { model: 'b' })] },
    ],
  });
  // The first choice fails once: the conversation begins at the second.
  scene.answer('east', down);
  await chat(scene, FIRST);
  expect(scene.asked).toEqual(['east', 'west']);
  scene.answer('east', good);
  scene.asked.length = 0;
});
afterEach(() => scene[Symbol.asyncDispose]());

async function askedFor(body: object, headers = {}): Promise<string[]> {
  scene.asked.length = 0;
  expect((await chat(scene, body, headers)).status).toBe(200);
  return [...scene.asked];
}

test('a conversation stays at the endpoint with its cache, and each turn extends that', async () => {
  expect(await askedFor(SECOND)).toEqual(['west']);
  scene.clock.advance(FIVE_MINUTES_MS - 1000);
  expect(await askedFor(SECOND)).toEqual(['west']);
  scene.clock.advance(FIVE_MINUTES_MS - 1000);
  expect(await askedFor({ ...SECOND, stream: true })).toEqual(['west']);
});

test('a conversation returns to the first choice after five idle minutes', async () => {
  scene.clock.advance(FIVE_MINUTES_MS);
  expect(await askedFor(SECOND)).toEqual(['east']);
});

test('the route table shows the endpoint with the cache', async () => {
  const table = await explained(scene, SECOND);
  expect(at(table, 'candidates', 0)).toMatchObject({
    endpoint: 'west',
    holds_cache: true,
    reason: 'has the beginning of this conversation in its cache',
  });
  expect(list(table, 'candidates').map((row) => at(row, 'holds_cache'))).toEqual([true, false, false]);
});

test.each<[string, object]>([
  ['another conversation', turns('How far?')],
  ['a short prompt', { model: 'all/chat', messages: [{ role: 'user', content: 'Where to?' }] }],
  ['other tools', { ...SECOND, tools: [{ type: 'function', function: { name: 'f' } }] }],
])('%s has nothing there', async (_, body) => {
  expect(await askedFor(body)).toEqual(['east']);
});

test('conversations with the same long beginning are distinguished by the end of the first message', async () => {
  const long = (end: string): object => turns(`${'How far is it to the next well? '.repeat(3000)}${end}`);
  await askedFor({ ...long('And from there?'), provider: { order: ['west'] } });
  expect(await askedFor(long('And from there?'))).toEqual(['west']);
  expect(await askedFor(long('And back again?'))).toEqual(['east']);
});

test('the same conversation of another key has no cache there', async () => {
  expect(await askedFor(SECOND, { authorization: `Bearer ${OTHER_KEY}` })).toEqual(['east']);
});

test.each<[string, object, string]>([
  ['a request that orders endpoints is obeyed', { order: ['north'] }, 'north'],
  ['also when the others follow by a factor', { order: ['north'], sort: 'price' }, 'north'],
  ['one that lists them, too', { routing: { type: 'priority', providers: ['east', 'west'] } }, 'east'],
  ['one that rules the holder out, too', { ignore: ['west'] }, 'east'],
  [
    'one that asks for the fastest goes home: that is where it is fast',
    { routing: { type: 'least_latency' } },
    'west',
  ],
])('%s', async (_, provider, by) => {
  expect(await askedFor({ ...SECOND, provider })).toEqual([by]);
});

test('a conversation that returns to its cache takes no turn of the round robin', async () => {
  const round = { provider: { routing: { type: 'round_robin' } } };
  const short = { model: 'all/chat', ...round };
  expect(await askedFor(short)).toEqual(['east']);
  expect(await askedFor({ ...SECOND, ...round })).toEqual(['west']);
  expect(await askedFor(short)).toEqual(['west']);
});

test('round robin: conversations with equal beginnings take turns, and continue at the endpoint of the latest', async () => {
  const round = { provider: { routing: { type: 'round_robin' } } };
  const begun: string[] = [];
  for (let n = 0; n < 6; n += 1) begun.push(...(await askedFor({ ...FIRST, ...round })));
  expect(begun).toEqual(['east', 'west', 'north', 'east', 'west', 'north']);
  expect(await askedFor({ ...SECOND, ...round })).toEqual(['north']);
});

test('an unavailable holder is left, and the cache is then on another endpoint', async () => {
  scene.answer('west', down);
  expect(await askedFor(SECOND)).toEqual(['west', 'east']);
  // East has the prompt now.
  expect(await askedFor(SECOND)).toEqual(['east']);
});

test('an endpoint with the cache but an open breaker is not tried', async () => {
  scene.answer('west', down);
  const remote = { model: 'all/chat', provider: { order: ['west'] } };
  for (let n = 0; n < 2; n += 1) expect(await askedFor(remote)).toEqual(['west', 'east']);
  expect(await askedFor(SECOND)).toEqual(['east']);
});

test('a choice of the gateway among models stays with the model that it began with', async () => {
  const body = {
    ...FIRST,
    model: 'auto',
    model_routing_config: { available_models: ['house/a', 'house/b'], preference: 'price' },
  };
  scene.answer('east', down);
  expect(await askedFor(body)).toEqual(['east/a', 'west/b']);
  scene.answer('east', good);
  expect(await askedFor(body)).toEqual(['west/b']);
  expect(slugs(await explained(scene, body))).toEqual(['west', 'east']);
  scene.clock.advance(FIVE_MINUTES_MS);
  expect(await askedFor(body)).toEqual(['east/a']);
});
