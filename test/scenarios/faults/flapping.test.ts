// A primary that comes and goes: others serve meanwhile, it is left alone, tried by one request at a time and taken
// back. And many streams at once while it flaps: each ends, and nothing of them stays.
import { heapStats, type HeapStats } from 'bun:jsc';
import { describe, expect, test } from 'bun:test';
import { cutAfter, noAnswer, opened, silence, stream as sse } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { CLIENTS, type Received } from '../../support/upstreams/client-dialects.ts';
import { streamOf } from '../../support/upstreams/dialects.ts';
import {
  attemptsOf,
  recordOf,
  startScene,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';
import { begun, SAID, sound, stageOf } from './fault.ts';

const { path, ask, receive } = CLIENTS['openai-chat'];
const BREAKER = { failures: 5, window_ms: 30_000, open_ms: 15_000 };

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Ten runs of the same, whose results come in any order. */
function tenAtOnce(run: () => Promise<string>): {
  readonly first: (count: number) => Promise<readonly string[]>;
  readonly last: () => Promise<string | undefined>;
} {
  const results: string[] = [];
  const runs = Array.from({ length: 10 }, async () => results.push(await run()));
  return {
    async first(count) {
      while (results.length < count) await turn();
      return results.slice();
    },
    async last() {
      await Promise.all(runs);
      return results.at(-1);
    },
  };
}

function start(clock: ArmedClock): Promise<Scene> {
  return startScene(['first', 'second'], { clock, config: { routing: { breaker: BREAKER } } });
}

describe.each([false, true])('down for a while, streamed: %p', (stream) => {
  const stage = stageOf('openai-chat', stream);

  test('the other endpoint serves the requests; the failed one is skipped, probed by one request at a time, and recovers', async () => {
    const clock = new ArmedClock();
    clock.impatient = true;
    await using scene = await start(clock);
    const [first, second] = [scene.upstream('first'), scene.upstream('second')];
    const by = async (): Promise<string> => {
      const response = await scene.gateway.post(path('all/chat', stream), ask('all/chat', stream));
      const received = receive(stream, await response.text());
      expect(received).toMatchObject({ complete: true, error: null });
      return received.text === SAID.first.join('') ? 'first' : 'second';
    };
    const standing = async (): Promise<unknown> => {
      const response = await scene.gateway.post('/route/explain', ask('all/chat', stream));
      const table: unknown = await response.json();
      return at(
        list(table, 'candidates').find((entry) => at(entry, 'provider') === 'first'),
        'state',
      );
    };

    first.always(stage.first.error(503));
    second.always(sound(stage, 'second'));
    for (let request = 0; request < 30; request++) expect(await by()).toBe('second');
    expect(first.requests).toHaveLength(BREAKER.failures);
    expect(await standing()).toBe('open');

    // Still down: of ten at once one tries it, and is served by the other all the same.
    clock.advance(BREAKER.open_ms);
    expect(await standing()).toBe('half-open');
    first.always(silence);
    const during = tenAtOnce(by);
    const probe = await first.arrived(1);
    expect(await during.first(9)).toEqual(Array<string>(9).fill('second'));
    expect(await by()).toBe('second');
    stage.first.error(503)(probe);
    expect(await during.last()).toBe('second');
    expect(first.requests).toHaveLength(1);
    expect(await by()).toBe('second');
    expect(await standing()).toBe('open');

    // Up again: one finds out, and then all return.
    clock.advance(BREAKER.open_ms);
    first.always(silence);
    const after = tenAtOnce(by);
    const proof = await first.arrived(1);
    expect(await after.first(9)).toEqual(Array<string>(9).fill('second'));
    expect(first.requests).toHaveLength(1);
    first.always(sound(stage, 'first'));
    sound(stage, 'first')(proof);
    expect(await after.last()).toBe('first');
    expect(await standing()).toBe('closed');
    expect(await Promise.all(Array.from({ length: 10 }, by))).toEqual(Array<string>(10).fill('first'));
  });

  test('without another endpoint, an open breaker refuses nothing', async () => {
    const clock = new ArmedClock();
    clock.impatient = true;
    await using scene = await start(clock);
    const first = scene.upstream('first');
    first.always(stage.first.error(503));
    for (let request = 0; request < 10; request++) {
      const response = await scene.gateway.post(path('one/chat', stream), ask('one/chat', stream));
      expect(response.status).toBe(503);
      await response.text();
    }
    first.always(sound(stage, 'first'));
    const response = await scene.gateway.post(path('one/chat', stream), ask('one/chat', stream));
    expect(receive(stream, await response.text()).complete).toBe(true);
    expect(attemptsOf(await recordOf(scene.gateway, response))).toEqual(['first completed']);
  });
});

describe('200 streams at once during a flapping primary', () => {
  const stage = stageOf('openai-chat', true);
  const [half] = SAID.first;
  const MISDEEDS: readonly Answer[] = [
    sound(stage, 'first'),
    stage.first.error(503),
    cutAfter(stage.first.opening),
    cutAfter(begun(stage)),
    noAnswer,
    sse([begun(stage), stage.first.errorFrame]),
    opened(begun(stage)),
    silence,
  ];

  /** Starts them all and lets time pass, a quarter of a second for each turn of the event loop, until all are over. */
  async function wave(scene: Scene, clock: ArmedClock): Promise<readonly Received[]> {
    let open = 200;
    const streams = Array.from({ length: open }, async () => {
      const response = await scene.gateway.post(path('all/chat', true), ask('all/chat', true));
      const text = await response.text();
      open -= 1;
      return response.status === 200 ? receive(true, text) : receive(false, text);
    });
    await scene.upstream('first').arrived(100);
    for (let turns = 0; open > 0 && turns < 20_000; turns++) {
      clock.advance(250);
      await turn();
    }
    expect(open).toBe(0);
    return Promise.all(streams);
  }

  test('each ends with a complete response or a native error, and memory returns to its level', async () => {
    const clock = new ArmedClock();
    // A breaker that does not open, so that each wave meets every misdeed.
    await using scene = await startScene(['first', 'second'], { clock });
    const [first, second] = [scene.upstream('first'), scene.upstream('second')];
    let count = 0;
    const memoryAfter = async (): Promise<HeapStats> => {
      first.always((exchange) => MISDEEDS[count++ % MISDEEDS.length]?.(exchange));
      second.always(sse(streamOf(stage.second, ...SAID.second)));
      const all = await wave(scene, clock);
      const whole = all.filter(({ complete, error }) => complete && error === null);
      const broken = all.filter(({ complete, error }) => !complete && error !== null);
      expect(whole.length + broken.length).toBe(200);
      for (const { text, starts } of whole) {
        expect([SAID.first.join(''), SAID.second.join('')]).toContain(text);
        expect(starts).toBe(1);
      }
      for (const { text } of broken) expect(['', half]).toContain(text);
      // Both happen, and rescue is the rule.
      expect(broken.length).toBeGreaterThan(10);
      expect(whole.length).toBeGreaterThan(50);
      first.script();
      second.script();
      for (const upstream of [first, second]) await upstream.dropConnections();
      clock.advance(60_000);
      await turn();
      Bun.gc(true);
      return heapStats();
    };
    await memoryAfter();
    const before = await memoryAfter();
    let after = before;
    for (let round = 0; round < 4; round++) after = await memoryAfter();
    // 800 streams in between, and an attempt that is kept keeps some 200 objects. A few thousand come and go: compiled
    // code, and what the collector takes for used.
    expect(after.objectCount - before.objectCount).toBeLessThan(4000);
    expect(after.heapSize - before.heapSize).toBeLessThan(2_000_000);

    const response = await scene.gateway.post('/route/explain', ask('all/chat', true));
    const table: unknown = await response.json();
    for (const position of [0, 1]) expect(at(table, 'candidates', position, 'in_flight')).toBe(0);
  });
});
