// Shares of endpoints: fairness of the round, and how far the measured policies follow what endpoints do. Upstreams take
// the time that the test's clock gives them.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { CHAT_OPENING, chatBody, chatChunk, frame, whole } from '../../support/upstreams/answers.ts';
import { at } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';
import {
  chat,
  down,
  endpoint,
  explained,
  good,
  NAMES,
  slugs,
  startRouting,
  type Name,
  type RoutingScene,
} from './routing-scene.ts';

const MODEL = 'all/chat';
const ROUND = { provider: { routing: { type: 'round_robin' } } };
const LEAST = { provider: { routing: { type: 'least_latency' } } };

let scene: RoutingScene;
/** Each test has a gateway that has measured nothing yet. */
beforeEach(async () => {
  scene = await startRouting({
    routing: { breaker: { failures: 3, open_ms: 3_600_000 } },
    models: [
      { id: 'two/chat', endpoints: [endpoint('east'), endpoint('west')] },
      {
        id: 'scored/chat',
        endpoints: [endpoint('east', { quality: 0.9 }), endpoint('west', { quality: 0.7 })],
      },
      {
        id: 'cached/chat',
        endpoints: [
          endpoint('east', { price: { input: 10, output: 4, cache_read: 1 } }),
          endpoint('west', { price: { input: 5, output: 4, cache_read: 5 } }),
        ],
      },
    ],
  });
});
afterEach(() => scene[Symbol.asyncDispose]());

/** How many of the requests since `forget` each upstream got. */
function shares(): Readonly<Record<Name, number>> {
  const count = (name: Name): number => scene.asked.filter((entry) => entry === name).length;
  return { east: count('east'), west: count('west'), north: count('north') };
}

function spread(): number {
  const counts = Object.values(shares());
  return Math.max(...counts) - Math.min(...counts);
}

/** Sends requests, so many at once; all must be answered. */
async function send(requests: number, atOnce: number, body: object): Promise<void> {
  let left = requests;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      expect((await chat(scene, { model: MODEL, ...body })).status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** A sound answer that takes this long. */
const after =
  (ms: number): Answer =>
  (exchange) => {
    scene.clock.advance(ms);
    good(exchange);
  };

describe('round robin', () => {
  test.each([1, 50])('200 requests, %i at once, are shared by three to within one', async (atOnce) => {
    await send(200, atOnce, ROUND);
    expect(scene.asked).toHaveLength(200);
    expect(spread()).toBeLessThanOrEqual(1);
  });

  test('endpoints take turns as configured, and the others follow as fallbacks in that order', async () => {
    await send(6, 1, ROUND);
    expect(scene.asked).toEqual(['east', 'west', 'north', 'east', 'west', 'north']);
    expect(slugs(await explained(scene, { model: MODEL, ...ROUND }))).toEqual(['east', 'west', 'north']);
    await send(1, 1, ROUND);
    expect(slugs(await explained(scene, { model: MODEL, ...ROUND }))).toEqual(['west', 'north', 'east']);
  });

  test.each([1, 50])(
    'if one of three is down, the other two share the requests, %i at once',
    async (atOnce) => {
      scene.answer('west', down);
      await send(100, atOnce, ROUND);
      const before = shares();
      // The breaker needs three failures; requests that were on their way by then may fail as well.
      expect(before.west).toBeGreaterThanOrEqual(3);
      expect(before.west).toBeLessThanOrEqual(2 + atOnce);
      expect(before.east + before.north).toBe(100);
      scene.asked.length = 0;
      await send(100, atOnce, ROUND);
      expect(shares().west).toBe(0);
      expect(Math.abs(shares().east - shares().north)).toBeLessThanOrEqual(1);
    },
  );

  test('each set of endpoints has its own round', async () => {
    const others = { provider: { routing: { type: 'round_robin', providers: ['west', 'north'] } } };
    await send(1, 1, ROUND);
    await send(1, 1, others);
    await send(1, 1, ROUND);
    await send(1, 1, others);
    expect(scene.asked).toEqual(['east', 'west', 'west', 'north']);
    scene.asked.length = 0;
    await send(1, 1, { model: 'two/chat', ...ROUND });
    expect(scene.asked).toEqual(['east']);
  });

  test('a factor orders the fallback endpoints', async () => {
    const body = { provider: { routing: { type: 'round_robin', primary_factor: 'quality' } } };
    const order = async (): Promise<unknown[]> =>
      slugs(await explained(scene, { model: 'scored/chat', ...body }));
    expect(await order()).toEqual(['east', 'west']);
    await send(1, 1, { model: 'scored/chat', ...body });
    expect(await order()).toEqual(['west', 'east']);
  });
});

describe.each([false, true])('least latency, streamed: %p', (stream) => {
  const ask = { model: 'two/chat', stream, ...LEAST };

  test('explores unmeasured endpoints, and stays with the faster one', async () => {
    scene.answer('east', after(800));
    scene.answer('west', after(200));
    await send(2, 1, ask);
    expect(scene.asked.toSorted()).toEqual(['east', 'west']);
    scene.asked.length = 0;
    await send(200, 1, ask);
    expect(shares().west).toBeGreaterThan(180);
    // The slower one is measured again now and then.
    expect(shares().east).toBeGreaterThan(0);
  });

  test('moves when the faster becomes slow, and returns when it recovers', async () => {
    scene.answer('east', after(500));
    scene.answer('west', after(100));
    await send(40, 1, ask);
    scene.answer('west', after(3000));
    await send(10, 1, ask);
    scene.asked.length = 0;
    await send(100, 1, ask);
    expect(shares().east).toBeGreaterThan(90);
    scene.answer('west', after(100));
    // Measured once in 20 requests, and each measure weighs by the time since the last: about a minute here.
    await send(150, 1, ask);
    scene.asked.length = 0;
    await send(100, 1, ask);
    expect(shares().west).toBeGreaterThan(90);
  });

  test('a failing endpoint is not explored forever', async () => {
    scene.answer('east', after(500));
    scene.answer('west', down);
    await send(30, 1, ask);
    expect(shares().east).toBe(30);
    expect(shares().west).toBeLessThanOrEqual(3);
  });
});

test('only one of many concurrent requests explores', async () => {
  scene.answer('east', after(100));
  await send(1, 1, { model: 'two/chat', ...LEAST });
  scene.asked.length = 0;
  const held: (() => void)[] = [];
  scene.answer('west', (exchange) => void held.push(() => good(exchange)));
  const sent = send(20, 20, { model: 'two/chat', ...LEAST });
  await scene.upstream('east').arrived(1 + 19);
  expect(shares()).toEqual({ east: 19, west: 1, north: 0 });
  for (const answer of held) answer();
  await sent;
});

describe('a measured factor', () => {
  /** An answer of 100 tokens: so long to the first, so long for the rest. */
  const paced =
    (firstMs: number, restMs: number): Answer =>
    (exchange) => {
      exchange.openStream();
      exchange.chunk(CHAT_OPENING);
      scene.clock.advance(firstMs);
      exchange.chunk(chatChunk({ content: 'Hello' }));
      const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 };
      // The gateway must have read the first content before time goes on.
      setImmediate(() =>
        setImmediate(() => {
          scene.clock.advance(restMs);
          exchange.chunk(chatChunk({}, 'stop'));
          exchange.chunk(
            frame({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage }),
          );
          exchange.chunk('data: [DONE]\n\n');
          exchange.endStream();
        }),
      );
    };

  test('latency, throughput and speed each use their own measurement', async () => {
    // East begins soonest, west writes fastest, north is sooner done than either with an answer of usual length.
    scene.answer('east', paced(100, 5000));
    scene.answer('west', paced(9000, 500));
    scene.answer('north', paced(1000, 1000));
    for (const name of NAMES) await send(3, 1, { stream: true, provider: { only: [name] } });
    const order = async (primary_factor: string): Promise<unknown[]> => {
      const routing = { type: 'priority', primary_factor };
      return slugs(await explained(scene, { model: MODEL, stream: true, provider: { routing } }));
    };
    expect(await order('latency')).toEqual(['east', 'north', 'west']);
    expect(await order('throughput')).toEqual(['west', 'north', 'east']);
    expect(await order('speed')).toEqual(['north', 'west', 'east']);
    const table = await explained(scene, { model: MODEL, stream: true });
    expect(at(table, 'candidates', 0)).toMatchObject({ endpoint: 'east', first_token_ms: 100 });
  });

  test('cost: tokens that the upstream reads from its cache have their own price', async () => {
    const ask = { model: 'cached/chat', provider: { sort: 'price' } };
    const usage = { prompt_tokens: 4000, completion_tokens: 5, total_tokens: 4005 };
    const cached = { ...usage, prompt_tokens_details: { cached_tokens: 3600 } };
    expect(slugs(await explained(scene, ask))).toEqual(['west', 'east']);
    scene.answer('east', whole({ ...chatBody('Hello'), usage: cached }));
    scene.answer('west', whole({ ...chatBody('Hello'), usage }));
    for (const name of ['east', 'west']) await send(2, 1, { ...ask, provider: { only: [name] } });
    const table = await explained(scene, ask);
    expect(slugs(table)).toEqual(['east', 'west']);
    expect(at(table, 'candidates', 0)).toMatchObject({
      cache_hit_rate: 0.9,
      reason: 'cost: 5.9 USD per million input and output tokens',
    });
  });

  test('quality: one failure among few attempts does not exclude an endpoint, many do', async () => {
    const ask = { model: 'scored/chat', provider: { sort: 'quality' } };
    scene.clock.advance(3_600_000);
    await send(5, 1, ask);
    scene.answer('east', down);
    await send(1, 1, ask);
    scene.answer('east', good);
    scene.asked.length = 0;
    await send(5, 1, ask);
    expect(shares()).toMatchObject({ east: 5, west: 0 });
    scene.answer('east', down);
    await send(2, 1, ask);
    scene.asked.length = 0;
    await send(5, 1, ask);
    expect(shares().west).toBe(5);
    // Failures fade: it gets another chance.
    scene.answer('east', good);
    scene.clock.advance(3_600_000);
    scene.asked.length = 0;
    await send(5, 1, ask);
    expect(shares()).toMatchObject({ east: 5, west: 0 });
  });
});
