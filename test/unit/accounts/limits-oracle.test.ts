// Rates against a brute-force oracle: a list of everything that was taken, and the sum of each window of it. Random askers,
// random pauses; hostile pauses that end just before and just after a window does.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { MemoryCounterStore, Limiter, Reservation } from '../../../src/accounts/limits/index.ts';
import { RollingCounter, stepMsOf } from '../../../src/accounts/limits/rolling-counter.ts';
import { SharedLimits } from '../../../src/cluster/counters/index.ts';
import { LimitsScene, MODEL } from '../../support/limits-scene.ts';
import { casesOf } from '../../support/share.ts';

const WINDOWS = { second: 1000, minute: 60_000, hour: 3_600_000, '5h': 18_000_000 } as const;
type Per = keyof typeof WINDOWS;

interface Taken {
  readonly atMs: number;
  readonly amount: number;
}

/** The most that any window of this length holds, wherever it begins. */
function fullest(taken: readonly Taken[], windowMs: number): number {
  let most = 0;
  for (const { atMs } of taken) {
    let sum = 0;
    for (const one of taken) if (one.atMs >= atMs && one.atMs < atMs + windowMs) sum += one.amount;
    most = Math.max(most, sum);
  }
  return most;
}

/** Pauses of a window: whole ones, parts of one, and a moment more or less than either. */
function pauses(windowMs: number): fc.Arbitrary<number> {
  const around = fc
    .tuple(
      fc.constantFrom(0, 0.25, 0.5, 0.99, 1),
      fc.constantFrom(-1, 0, 1, Math.ceil(windowMs / 1024), Math.ceil(windowMs * 0.0099)),
    )
    .map(([part, more]) => Math.max(0, Math.round(part * windowMs) + more));
  return fc.oneof(around, fc.nat({ max: 2 * windowMs }), fc.nat({ max: Math.ceil(windowMs / 100) }));
}

const per = fc.constantFrom<Per>('second', 'minute', 'hour', '5h');

describe('no window of a rate exceeds its limit in any order of requests', () => {
  const asked = per.chain((word) =>
    fc.record({
      word: fc.constant(word),
      limit: fc.integer({ min: 1, max: 40 }),
      owner: fc.constantFrom<'key' | 'provider' | 'gateway'>('key', 'provider', 'gateway'),
      steps: fc.array(fc.tuple(pauses(WINDOWS[word]), fc.integer({ min: 1, max: 50 })), { maxLength: 30 }),
    }),
  );

  test('for requests', () => {
    fc.assert(
      fc.property(asked, ({ word, limit, owner, steps }) => {
        const scene = new LimitsScene();
        const scope = scene.limiter.scope({ kind: owner, id: 'one', name: 'one' }, [
          { requests: limit, per: word },
        ]);
        const taken: Taken[] = [];
        for (const [pause, burst] of steps) {
          scene.clock.advance(pause);
          for (let n = 0; n < burst; n += 1)
            if (scene.admit(scope) instanceof Reservation) taken.push({ atMs: scene.clock.now(), amount: 1 });
        }
        expect(fullest(taken, WINDOWS[word])).toBeLessThanOrEqual(limit);
      }),
      { numRuns: casesOf(400) },
    );
  });

  test('for tokens that are settled for less than was reserved', () => {
    fc.assert(
      fc.property(
        asked,
        fc.infiniteStream(fc.integer({ min: 1, max: 10 })),
        ({ word, limit, steps }, sizes) => {
          const scene = new LimitsScene();
          const key = scene.key([{ tokens: limit, per: word }]);
          const taken: { atMs: number; amount: number }[] = [];
          const running: { end: () => void }[] = [];
          for (const [pause, burst] of steps) {
            scene.clock.advance(pause);
            // Half of those that run end before the next come.
            for (const { end } of running.splice(0, Math.ceil(running.length / 2))) end();
            for (let n = 0; n < burst; n += 1) {
              const tokens = Math.min(limit, sizes.next().value ?? 1);
              const outcome = scene.admit(key, { tokens });
              if (!(outcome instanceof Reservation)) continue;
              const one = { atMs: scene.clock.now(), amount: tokens };
              taken.push(one);
              running.push({
                end() {
                  one.amount = Math.floor(tokens / 2);
                  scene.limiter.settle(outcome, { requests: 1, tokens: one.amount, nanoUsd: 0 });
                },
              });
            }
          }
          expect(fullest(taken, WINDOWS[word])).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: casesOf(300) },
    );
  });

  test('for processes that share it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 40 }),
        fc.array(fc.tuple(fc.nat({ max: 2 }), pauses(1000), fc.integer({ min: 1, max: 30 })), {
          maxLength: 40,
        }),
        async (limit, steps) => {
          let nowMs = 1_000_000;
          const store = new MemoryCounterStore({ leaseMs: 3000 });
          const processes = [0, 1, 2].map((name) => openProcess(store, String(name), limit, () => nowMs));
          for (const one of processes) await one.open();
          const taken: Taken[] = [];
          for (const [which, pause, burst] of steps) {
            nowMs += pause;
            const one = processes[which];
            for (let n = 0; n < burst; n += 1) if (await one?.asks()) taken.push({ atMs: nowMs, amount: 1 });
          }
          expect(fullest(taken, 1000)).toBeLessThanOrEqual(limit);
        },
      ),
      { numRuns: casesOf(200) },
    );
  });
});

/** A process that shares a limit per second. */
function openProcess(store: MemoryCounterStore, holder: string, limit: number, now: () => number) {
  const sharing: SharedLimits = new SharedLimits({
    store,
    holder,
    leaseMs: 3000,
    ledger: { async *read() {} },
    periodStart: () => 0,
    clock: { now, wall: now, after: () => () => {}, every: () => () => {} },
    elapsed: now,
    whenUnreachable: 'refuse',
    processes: 3,
    log: { info: () => {}, warn: () => {} },
  });
  const limiter = new Limiter({ now, sharing });
  const scope = limiter.scope({ kind: 'key', id: 'ci', name: 'ci' }, [{ requests: limit, per: 'second' }]);
  const estimate = { model: MODEL, endUser: null, tokens: 0, nanoUsd: 0 };
  return {
    open: () => sharing.open(),
    asks: async () => (await limiter.take([scope], estimate, now() + 1000)) instanceof Reservation,
  };
}

test('a counter has never less than its window holds, and no more than a step longer does', () => {
  const histories = per.chain((word) =>
    fc.record({
      word: fc.constant(word),
      steps: fc.array(fc.tuple(pauses(WINDOWS[word]), fc.integer({ min: 1, max: 9 })), { maxLength: 60 }),
    }),
  );
  fc.assert(
    fc.property(histories, ({ word, steps }) => {
      const windowMs = WINDOWS[word];
      const counter = new RollingCounter(windowMs);
      const taken: Taken[] = [];
      let nowMs = 0;
      for (const [pause, amount] of steps) {
        nowMs += pause;
        const since = (ms: number): number =>
          taken.reduce((sum, one) => sum + (one.atMs > nowMs - ms ? one.amount : 0), 0);
        const used = counter.used(nowMs);
        expect(used).toBeGreaterThanOrEqual(since(windowMs));
        expect(used).toBeLessThanOrEqual(since(windowMs + stepMsOf(windowMs)));
        counter.reserve(amount, nowMs);
        taken.push({ atMs: nowMs, amount });
      }
    }),
    { numRuns: casesOf(400) },
  );
});
