// Contract of every store of shared counters, wherever it keeps them.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type {
  Answered,
  Caller,
  Cell,
  CounterStore,
  LedgerPart,
  Wanted,
} from '../../../src/accounts/limits/index.ts';

const DAY = 86_400_000;
/** By how much clocks may differ, in milliseconds. */
const CLOCKS_DIFFER_MS = 10_000;
const LEASE_MS = 10_000;
const WINDOW_MS = 60_000;
const START = Date.UTC(2026, 10, 22);

type Changes = Partial<Cell & Wanted>;

/** Answer to one request, or one report. */
interface One {
  /** Amounts that it got, in the order of its limits; `null`: nothing. */
  readonly got: readonly number[] | null;
  readonly total: number;
  readonly needsLedger: boolean;
  readonly isAway: boolean;
}

/** Runs the contract. @param make an empty store in which processes count as gone after so many milliseconds */
export function describeCounterStore(name: string, make: (leaseMs: number) => CounterStore): void {
  let turn = 0;
  const caller = (holder: string, ms = 0, repliedMs = ms): Caller => {
    turn += 1;
    return { holder, turn, nowMs: START + ms, lastReplyAtMs: START + repliedMs };
  };
  const cellOf = (holder: string, changes: Changes): Cell => {
    const { limit: _limit, need: _need, want: _want, clips: _clips, at: _at, ...cell } = changes;
    return {
      counter: 'key ci requests',
      period: 0,
      windowMs: WINDOW_MS,
      isInLedger: false,
      cell: `${holder}:1`,
      used: 0,
      settled: 0,
      isOpen: false,
      ageMs: 0,
      ...cell,
    };
  };
  const wantedOf = (at: number, { limit = 100, need = 0, want = need, clips = false }: Changes): Wanted => ({
    at,
    limit,
    need,
    want,
    clips,
  });
  const oneOf = ({ granted, states, isAway }: Answered): One => {
    const [got = null] = granted;
    return {
      got: typeof got === 'number' ? null : got,
      total: states[0]?.total ?? 0,
      needsLedger: states[0]?.needsLedger ?? false,
      isAway,
    };
  };
  /** A request that all these limits count. */
  const ask = async (store: CounterStore, holder: string, all: readonly Changes[], ms = 0): Promise<One> => {
    const cells = all.map((changes) => cellOf(holder, changes));
    return oneOf(await store.take(caller(holder, ms), cells, [all.map((one, at) => wantedOf(at, one))]));
  };
  const say = async (
    store: CounterStore,
    holder: string,
    changes: Changes,
    ms = 0,
    repliedMs = ms,
  ): Promise<One> => oneOf(await store.take(caller(holder, ms, repliedMs), [cellOf(holder, changes)], []));
  const receive = (store: CounterStore, holder: string, ms: number): Promise<Answered> =>
    store.take(caller(holder, ms), [], []);

  describe(`${name}: a request`, () => {
    test('gets what it needs while that much is free, whichever process uses the rest', async () => {
      const store = make(LEASE_MS);
      expect(await ask(store, 'a', [{ need: 60 }])).toMatchObject({ got: [60], total: 60 });
      expect(await ask(store, 'b', [{ need: 41 }])).toMatchObject({ got: null, total: 60 });
      expect(await ask(store, 'b', [{ need: 40 }])).toMatchObject({ got: [40], total: 100 });
      expect(await ask(store, 'b', [{ used: 40, need: 1 }])).toMatchObject({ got: null, total: 100 });
      expect(await ask(store, 'c', [{ need: 0 }])).toMatchObject({ got: [0] });
    });

    test('gets all that it needs from every counter, or nothing', async () => {
      const store = make(LEASE_MS);
      const [first, second] = [
        { counter: 'one', need: 5 },
        { counter: 'two', need: 5, limit: 9 },
      ];
      expect((await ask(store, 'a', [first, second])).got).toEqual([5, 5]);
      expect(await ask(store, 'b', [first, second])).toMatchObject({ got: null, total: 5 });
      const { granted } = await store.take(
        caller('b'),
        [cellOf('b', first), cellOf('b', second)],
        [[wantedOf(0, first), wantedOf(1, second)]],
      );
      expect(granted).toEqual([1]);
    });

    test('gets more than is free only if it cannot be reduced', async () => {
      const store = make(LEASE_MS);
      expect((await ask(store, 'a', [{ need: 10, want: 90, clips: true }])).got).toEqual([90]);
      expect((await ask(store, 'b', [{ need: 10, want: 90, clips: true }])).got).toEqual([10]);
      expect((await ask(store, 'c', [{ counter: 'other', need: 100, want: 300 }])).got).toEqual([300]);
    });

    test('sees what an earlier request of the same call took', async () => {
      const store = make(LEASE_MS);
      const wanted = [wantedOf(0, { need: 60 })];
      const { granted, states } = await store.take(
        caller('a'),
        [cellOf('a', { used: 10 })],
        [wanted, wanted],
      );
      expect(granted).toEqual([[60], 0]);
      expect(states[0]?.total).toBe(70);
    });
  });

  describe(`${name}: a report`, () => {
    test('replaces the earlier report of the process about the same cell, and adds nothing', async () => {
      const store = make(LEASE_MS);
      for (let times = 0; times < 3; times += 1) expect((await say(store, 'a', { used: 30 })).total).toBe(30);
      expect((await say(store, 'a', { used: 10, cell: 'a:2' })).total).toBe(40);
      expect((await say(store, 'b', { used: 5 })).total).toBe(45);
      expect((await say(store, 'a', { used: 130 })).total).toBe(145);
      expect((await say(store, 'a', { used: 0 })).total).toBe(15);
    });

    test('that is late changes nothing', async () => {
      const store = make(LEASE_MS);
      const early = caller('a');
      await say(store, 'a', { used: 30 });
      expect((await store.take(early, [cellOf('a', { used: 5 })], [])).isAway).toBe(true);
      expect((await say(store, 'b', {})).total).toBe(30);
    });

    test('of a process that was silent for too long is rejected', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', { used: 30 });
      expect(await say(store, 'a', { used: 5 }, LEASE_MS, 0)).toMatchObject({ isAway: true });
      expect((await say(store, 'b', {}, LEASE_MS)).total).toBe(30);
      expect(await say(store, 'a', { used: 5 }, LEASE_MS, 1)).toMatchObject({ isAway: false, total: 5 });
    });

    test('returns the number of processes', async () => {
      const store = make(LEASE_MS);
      await receive(store, 'a', 0);
      expect((await receive(store, 'b', 0)).processes).toBeGreaterThanOrEqual(2);
      expect(await receive(store, 'b', 2 * LEASE_MS)).toMatchObject({ processes: 1, settlesInMs: 0 });
    });
  });

  describe(`${name}: a window that rolls`, () => {
    test('frees each cell when its latest unit is a window old', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', { used: 30 });
      await say(store, 'a', { used: 20, cell: 'a:2' }, 10_000);
      await say(store, 'b', { used: 10, ageMs: 40_000 }, 10_000);
      expect((await say(store, 'c', {}, 29_999)).total).toBe(60);
      expect((await say(store, 'c', {}, 30_000)).total).toBe(50);
      expect((await say(store, 'c', {}, WINDOW_MS - 1)).total).toBe(50);
      expect((await say(store, 'c', {}, WINDOW_MS)).total).toBe(20);
      expect((await say(store, 'c', {}, WINDOW_MS + 10_000)).total).toBe(0);
    });

    test('still counts the usage of a process that has ended, until it leaves the window', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', { used: 50, isOpen: true });
      expect((await ask(store, 'b', [{ need: 60 }], WINDOW_MS - 1)).got).toBeNull();
      expect((await ask(store, 'b', [{ need: 60 }], WINDOW_MS)).got).toEqual([60]);
    });
  });

  describe(`${name}: concurrent requests`, () => {
    const running = { windowMs: 0, isOpen: true };

    test('count while their process reports, and end when it does not', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', { ...running, used: 50 });
      await receive(store, 'a', LEASE_MS - 1);
      expect((await say(store, 'b', running, LEASE_MS)).total).toBe(50);
      expect((await say(store, 'b', running, 2 * LEASE_MS - 2)).total).toBe(50);
      expect((await say(store, 'b', running, 2 * LEASE_MS - 1)).total).toBe(0);
    });
  });

  describe(`${name}: what the ledger knows`, () => {
    const budget = { counter: 'key ci usd', period: START, windowMs: null, isInLedger: true };
    const begin = async (store: CounterStore, ms = 0, counter = budget.counter): Promise<number | null> =>
      (await store.restoring(caller('r', ms), [{ counter, period: START }]))[0] ?? null;
    const end = async (
      store: CounterStore,
      fence: number,
      sums: readonly LedgerPart[],
      ms = 0,
    ): Promise<boolean> =>
      (await store.restored(caller('r', ms), [{ counter: budget.counter, period: START, fence, sums }]))[0] ??
      false;
    const restore = async (store: CounterStore, spent: number, ms = 0): Promise<boolean> => {
      const fence = await begin(store, ms);
      return fence !== null && end(store, fence, [{ amount: spent, ageMs: 0 }], ms);
    };

    test('is requested before anything is granted', async () => {
      const store = make(LEASE_MS);
      expect(await ask(store, 'a', [{ ...budget, need: 10 }])).toMatchObject({
        got: null,
        needsLedger: true,
      });
      expect(await restore(store, 30)).toBe(true);
      const answer = await ask(store, 'a', [{ ...budget, need: 70 }]);
      expect(answer).toMatchObject({ got: [70], total: 100, needsLedger: false });
    });

    test('is requested from one process at a time, and a late reply is ignored', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', budget);
      const fence = (await begin(store)) ?? 0;
      expect(await begin(store, LEASE_MS - 1)).toBeNull();
      const next = (await begin(store, LEASE_MS)) ?? 0;
      expect(next).toBeGreaterThan(fence);
      const sums = [{ amount: 30, ageMs: 0 }];
      expect(await end(store, fence, [{ amount: 99, ageMs: 0 }], LEASE_MS)).toBe(false);
      expect(await end(store, next, sums, LEASE_MS)).toBe(true);
      expect(await end(store, next, sums, LEASE_MS)).toBe(false);
      expect((await say(store, 'a', budget, LEASE_MS)).total).toBe(30);
      expect(await begin(store, 0, 'nobody has it')).toBeNull();
    });

    test('is set, never added, because it includes the settled usage of processes', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', { ...budget, used: 15, settled: 10, isOpen: true });
      for (let times = 0; times < 3; times += 1) expect(await restore(store, 40)).toBe(true);
      expect((await ask(store, 'b', [{ ...budget, need: 55 }])).got).toEqual([55]);
    });

    test('replaces the reservations of a dead process, and keeps its settled usage', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', budget);
      await restore(store, 0);
      await say(store, 'a', { ...budget, used: 60, settled: 10, isOpen: true });
      expect(await say(store, 'b', budget, LEASE_MS)).toMatchObject({ total: 60, needsLedger: true });
      // It is asked for until somebody has answered.
      await begin(store, LEASE_MS);
      expect((await say(store, 'b', budget, 2 * LEASE_MS)).needsLedger).toBe(true);
      await restore(store, 12, 2 * LEASE_MS);
      expect(await say(store, 'b', budget, 2 * LEASE_MS)).toMatchObject({ total: 12, needsLedger: false });
    });

    test('is not requested for an ended process without reservations', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', budget);
      await restore(store, 0);
      await say(store, 'a', { ...budget, used: 10, settled: 10 });
      expect(await say(store, 'b', budget, 50 * LEASE_MS)).toMatchObject({ total: 10 });
      expect(await begin(store, 50 * LEASE_MS)).not.toBeNull();
    });

    test('is requested again if usage may have been settled meanwhile', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', { ...budget, used: 5, settled: 5 });
      await restore(store, 30);
      expect((await say(store, 'b', budget, 1)).needsLedger).toBe(false);
      expect((await say(store, 'b', budget, 10 * LEASE_MS)).needsLedger).toBe(true);
      await restore(store, 30, 10 * LEASE_MS);
      expect((await say(store, 'b', budget, 90 * LEASE_MS)).needsLedger).toBe(false);
    });

    test('is freed part by part in a rolling window', async () => {
      const store = make(LEASE_MS);
      const rolling = { ...budget, windowMs: WINDOW_MS };
      await say(store, 'a', { ...rolling, used: 5, settled: 5 });
      const fence = (await begin(store)) ?? 0;
      const sums = [
        { amount: 3, ageMs: 1000 },
        { amount: 20, ageMs: 10_000 },
        { amount: 7, ageMs: 50_000 },
        { amount: 9, ageMs: WINDOW_MS },
      ];
      await end(store, fence, sums);
      // The latest five are those that the process has said itself.
      expect((await say(store, 'b', rolling)).total).toBe(5 + 18 + 7);
      expect((await say(store, 'b', rolling, 10_000)).total).toBe(5 + 18);
      expect((await say(store, 'b', rolling, 50_000)).total).toBe(5);
      expect((await say(store, 'b', rolling, WINDOW_MS)).total).toBe(0);
    });

    test('excludes periods that begin later, and nothing is granted in a period that has long ended', async () => {
      const store = make(LEASE_MS);
      await say(store, 'a', budget);
      const tomorrow = { ...budget, period: START + DAY, need: 10 };
      expect(await ask(store, 'a', [tomorrow])).toMatchObject({ got: [10], needsLedger: false });
      await say(store, 'a', { ...tomorrow, period: START + 2 * DAY });
      expect((await ask(store, 'a', [{ ...budget, used: 4, need: 10 }])).got).toBeNull();
    });

    test('is requested for a period that began before the store could count, even if a process is still in the earlier period', async () => {
      const store = make(LEASE_MS);
      // Its clock is slow: for others the day is another.
      await say(store, 'slow', budget);
      const today = { ...budget, period: START - 1000 + CLOCKS_DIFFER_MS, need: 10 };
      expect(await ask(store, 'a', [today])).toMatchObject({ got: null, needsLedger: true });
    });
  });

  test(`${name}: processes together never get more than the limit, in any order of events`, async () => {
    const step = fc.record({
      holder: fc.constantFrom('a', 'b', 'c'),
      need: fc.integer({ min: 1, max: 60 }),
      keeps: fc.double({ min: 0, max: 1, noNaN: true }),
      ms: fc.constantFrom(0, 1, 3000, LEASE_MS),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = make(LEASE_MS);
        const used = new Map<string, number>();
        let ms = 0;
        for (const { holder, need, keeps, ms: passed } of steps) {
          ms += passed;
          const mine = Math.floor((used.get(holder) ?? 0) * keeps);
          const changes = { used: mine, windowMs: 1e9, need };
          const { got, total } = await ask(store, holder, [changes], ms);
          used.set(holder, mine + (got?.[0] ?? 0));
          const all = [...used.values()].reduce((sum, one) => sum + one, 0);
          expect(total).toBe(all);
          expect(all).toBeLessThanOrEqual(100);
          if (got === null) expect(all + need).toBeGreaterThan(100);
        }
      }),
      { numRuns: 100 },
    );
  });
}
