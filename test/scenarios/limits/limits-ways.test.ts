// Every way that an answer can go, under limits: what it adds to them is what its records say, nothing stays reserved, and a
// restart knows the same.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../support/harness.ts';
import { added, ledgerOf, COUNTED } from './limits-books.ts';
import { SocketClient } from '../../support/socket-client.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { recordOf, startScene, StreamReading } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { NO_ANSWER, startToolScene, type ToolScene } from '../../support/upstreams/tool-scene.ts';
import { sound, stageOf } from '../faults/fault.ts';
import { ask, says, WAYS } from '../../support/responses-scene.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-limits-ways-'));
const dataDir = join(folder, 'data');

const endpoint = (model: string, protocol = 'openai-chat', provider = 'up'): object => ({
  provider,
  model,
  name: `${provider}-${model}`,
  protocol,
  price: { input: 1, output: 4 },
});
const say = (content: string): { messages: object[] } => ({ messages: [{ role: 'user', content }] });

const scene = await startToolScene({
  dataDir,
  config: { ...COUNTED, routing: { retries: 0 } },
  models: [
    {
      id: 'mended',
      endpoints: [endpoint('cut-after-400', 'openai-chat', 'sim'), endpoint('chat', 'openai-chat', 'sim')],
    },
    {
      id: 'failing',
      endpoints: [endpoint('error-500', 'openai-chat', 'sim'), endpoint('chat', 'openai-chat', 'sim')],
    },
    { id: 'sim-embed', endpoints: [endpoint('embed', 'openai-chat', 'sim')] },
  ],
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Its data stay. */
async function stop({ gateway, upstream, web, mcp }: ToolScene): Promise<void> {
  await gateway.stop();
  await Promise.all([upstream.stop(), web.stop(), mcp.stop()]);
}

const chat = (body: object, headers?: Record<string, string>): Promise<Response> =>
  scene.gateway.post('/chat/completions', { model: 'sim/chat', ...say('write 30 words'), ...body }, headers);
const read = async (asked: Promise<Response>): Promise<Response> => {
  const response = await asked;
  await response.text();
  return response;
};

const SEARCH = { type: 'web_search' };
const searching = { call: 'web_search', id: 'call_a', args: { query: 'q' } };

describe.each(WAYS.flatMap((way) => [false, true].map((stream) => [way, stream] as const)))(
  'tools of the gateway over %s, streamed: %p',
  (way, stream) => {
    if (way === 'relay') return;
    const go = (): Promise<unknown> => ask(scene, way, { input: 'Go', tools: [SEARCH] }, stream);

    test('each turn counts as a request, and tools are charged', async () => {
      scene.upstream.script(
        says(way, [searching]),
        says(way, [{ ...searching, id: 'call_b' }]),
        says(way, [{ text: 'Done.' }]),
      );
      const { requests, records, nanoUsd } = await added(scene.gateway, go);
      expect({ requests, records }).toEqual({ requests: 3, records: 1 });
      expect(nanoUsd).toBeGreaterThan(0.02e9);
    });

    test('the turns before a failed turn count', async () => {
      scene.upstream.script(says(way, [searching]), (exchange) => exchange.cut());
      const { requests, records } = await added(scene.gateway, () => go());
      expect({ requests, records }).toEqual({ requests: 1, records: 1 });
    });
  },
);

test('a client that leaves while a tool runs pays for the turn before it', async () => {
  scene.upstream.script(says('chat', [searching]), says('chat', [{ text: 'Done.' }]));
  scene.web.clear();
  scene.web.next(NO_ANSWER);
  const leaving = new AbortController();
  const { requests, tokens } = await added(scene.gateway, async () => {
    const asked = fetch(`${scene.gateway.baseURL}/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'to/chat', input: 'Go', tools: [SEARCH], stream: true }),
      signal: leaving.signal,
    }).then((response) => response.text());
    await scene.web.searched(1);
    leaving.abort();
    await asked.catch(() => '');
  });
  expect(requests).toBe(1);
  expect(tokens).toBeGreaterThan(0);
});

describe('limits count a request once, with its usage', () => {
  test.each<[string, number, () => Promise<unknown>]>([
    ['an answer', 1, () => read(chat({}))],
    ['a stream', 1, () => read(chat({ stream: true }))],
    ['a failover', 1, () => read(chat({ model: 'failing' }))],
    [
      'an answer that another endpoint completes',
      1,
      () => read(chat({ model: 'mended', stream: true, provider: { stream_safety: 'continue' } })),
    ],
    [
      'a response that no endpoint completes',
      1,
      () => read(chat({ model: 'sim/cut-after-40', stream: true })),
    ],
    ['a failed request', 0, () => read(chat({ model: 'sim/error-500' }))],
    ['a refused request', 0, () => read(chat({ messages: 'none' }))],
    [
      'an embedding',
      1,
      () => read(scene.gateway.post('/embeddings', { model: 'sim/embed', input: ['one', 'two three'] })),
    ],
    [
      'a count of tokens',
      0,
      () => read(scene.gateway.post('/messages/count_tokens', { model: 'sim/messages', ...say('count me') })),
    ],
    [
      'a summary',
      1,
      () => read(scene.gateway.post('/responses/compact', { model: 'sim/chat', input: 'Tea, please.' })),
    ],
  ])('%s', async (_, requests, run) => {
    const ledger = await added(scene.gateway, run);
    expect(ledger.requests).toBe(requests);
    expect(ledger.tokens > 0).toBe(requests > 0);
    expect(ledger.nanoUsd > 0).toBe(requests > 0);
  });

  test('a client that leaves in the middle', async () => {
    const ledger = await added(scene.gateway, async () => {
      const reading = new StreamReading(
        await chat({ model: 'sim/paced-5', stream: true, ...say('write 200 words') }),
      );
      await reading.until('content');
      await reading.leave();
    });
    expect(ledger).toMatchObject({ requests: 1, records: 1 });
    expect(ledger.tokens).toBeGreaterThan(0);
  });

  test('an answer that is replayed, and nothing for its replay', async () => {
    const once = (): Promise<Response> => read(chat({}, { 'idempotency-key': 'once' }));
    expect((await added(scene.gateway, once)).requests).toBe(1);
    expect(await added(scene.gateway, once)).toEqual({ requests: 0, tokens: 0, nanoUsd: 0, records: 0 });
  });

  test('in each turn of a socket', async () => {
    await using client = await SocketClient.open(scene.gateway.origin);
    const turn = { model: 'sim/chat', input: 'write 20 words' };
    const ledger = await added(scene.gateway, async () => {
      await client.turn(turn);
      await client.turn(turn);
    });
    expect(ledger).toMatchObject({ requests: 2, records: 2 });
  });
});

test('a cancelled hedged request is charged its billed usage, and the rest is released', async () => {
  const clock = new ArmedClock(Date.UTC(2026, 10, 22, 12));
  const stage = stageOf('anthropic-messages', true);
  await using race = await startScene(['first', 'second'], {
    clock,
    faithful: true,
    config: {
      ...COUNTED,
      models: [
        {
          id: 'raced',
          max_output_tokens: 900,
          endpoints: ['first', 'second'].map((name) => endpoint('m', 'anthropic-messages', name)),
        },
      ],
    },
  });
  const first = race.upstream('first');
  const post = (provider: object): Promise<Response> =>
    race.gateway.post('/messages', {
      model: 'raced',
      max_tokens: 100,
      stream: true,
      ...say('Hello'),
      provider,
    });
  // How long the first usually takes.
  for (let measure = 0; measure < 20; measure += 1) {
    first.script(() => {});
    const asked = post({});
    const exchange = await first.arrived(1);
    clock.advance(400);
    sound(stage, 'first')(exchange);
    await (await asked).text();
  }
  first.script((exchange) => {
    exchange.openStream();
    // The prompt is billed with it.
    exchange.chunk(stage.first.opening);
  });
  race.upstream('second').script(sound(stage, 'second'));
  clock.waits.length = 0;
  let answer: Response | undefined;
  const ledger = await added(race.gateway, async () => {
    const asked = post({ hedge: true });
    const late = await first.arrived(1);
    await clock.armed();
    clock.advance(500);
    answer = await read(asked);
    await late.closed;
  });
  if (!answer) throw new Error('no answer');
  const record = await recordOf(race.gateway, answer);
  const costs = list(record, 'attempts').map((attempt) => Number(at(attempt, 'cost', 'usd') ?? 0));
  expect(costs).toHaveLength(2);
  for (const cost of costs) expect(cost).toBeGreaterThan(0);
  expect(ledger).toMatchObject({ requests: 1, records: 1 });
  expect(ledger.nanoUsd).toBe(Math.round(costs.reduce((sum, cost) => sum + cost, 0) * 1e9));
});

describe('limits of requests', () => {
  const keysOf = (per: 'minute' | 'day'): readonly object[] => [
    { name: 'few', key: 'sk-test', limits: [{ requests: 2, per }] },
  ];

  test('are reported natively on a socket, whose next turn is admitted when capacity is free', async () => {
    const clock = new ArmedClock(Date.UTC(2026, 10, 22, 12));
    await using gateway = await startGateway({ keys: keysOf('minute') }, { clock });
    await using client = await SocketClient.open(gateway.origin);
    const turn = { model: 'sim/chat', input: 'Hello' };
    expect((await client.turn(turn)).at(-1)).toMatchObject({ type: 'response.completed' });
    expect((await client.turn(turn)).at(-1)).toMatchObject({ type: 'response.completed' });
    expect((await client.turn(turn)).at(-1)).toMatchObject({
      type: 'error',
      status: 429,
      error: {
        code: 'rate_limit_exceeded',
        message: expect.stringContaining('2 requests per minute (the limit of key "few")'),
      },
    });
    clock.advance(60_000);
    expect((await client.turn(turn)).at(-1)).toMatchObject({ type: 'response.completed' });
  });

  test('do not stop further turns of a running request, and count them for the next one', async () => {
    const own = join(folder, 'few');
    const start = (): Promise<ToolScene> => startToolScene({ dataDir: own, config: { keys: keysOf('day') } });
    const go = ({ gateway }: ToolScene, tools: readonly object[]): Promise<Response> =>
      gateway.post('/responses', { model: 'to/chat', input: 'Go', tools });
    let few = await start();
    few.upstream.script(
      says('chat', [searching]),
      says('chat', [{ ...searching, id: 'call_b' }]),
      says('chat', [{ text: 'Done.' }]),
    );
    const answer = await go(few, [SEARCH]);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    const refused = await go(few, []);
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain('3 requests used');
    await stop(few);
    few = await start();
    const again = await go(few, []);
    expect(again.status).toBe(429);
    expect(await again.text()).toContain('3 requests used');
    await stop(few);
  });
});

test('a restarted gateway has counted the same', async () => {
  const before = await ledgerOf(scene.gateway);
  expect(before.requests).toBeGreaterThan(20);
  await stop(scene);
  const gateway = await startGateway(COUNTED, { dataDir });
  expect(await ledgerOf(gateway)).toEqual(before);
  await gateway.stop();
});
