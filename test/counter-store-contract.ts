// What every store of shared counters must do, wherever it keeps them.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Caller, Claim, CounterStore, Lease } from '../src/limits/index.ts';

const DAY = 86_400_000;
/** By how much clocks may differ, in milliseconds. */
const CLOCKS_DIFFER_MS = 10_000;
const LEASE_MS = 10_000;
const START = Date.UTC(2026, 10, 22);

/** Runs the contract. @param make an empty store whose leases hold for so many milliseconds */
export function describeCounterStore(name: string, make: (leaseMs: number) => CounterStore): void {
  const claim = (changes: Partial<Claim> = {}): Claim => ({
    counter: 'key ci requests',
    period: 0,
    limit: 100,
    used: 0,
    settled: 0,
    need: 0,
    want: 0,
    lingersMs: 60_000,
    reviewMs: null,
    fence: 0,
    ...changes,
  });
  let turn = 0;
  const caller = (holder: string, ms = 0): Caller => {
    turn += 1;
    return { holder, turn, nowMs: START + ms };
  };
  const one = async (
    store: CounterStore,
    holder: string,
    changes: Partial<Claim>,
    ms = 0,
  ): Promise<Lease> => {
    const { leases } = await store.claim(caller(holder, ms), [claim(changes)]);
    const [lease] = leases;
    if (!lease) throw new Error('no lease');
    return lease;
  };

  describe(`${name}: leases`, () => {
    test('take half of what is left, and what is needed as long as there is so much', async () => {
      const store = make(LEASE_MS);
      const first = await one(store, 'a', { need: 1, want: 80 });
      expect(first).toMatchObject({ ceiling: 50, others: 0, expiresAtMs: START + LEASE_MS });
      const second = await one(store, 'b', { need: 1, want: 10 });
      expect(second).toMatchObject({ ceiling: 10, others: 50 });
      expect(second.fence).toBeGreaterThan(first.fence);
      expect((await one(store, 'c', { need: 40, want: 40 })).ceiling).toBe(40);
      expect(await one(store, 'd', { need: 1, want: 1 })).toMatchObject({ ceiling: 0, others: 100 });
    });

    test('are given back by wanting less, but never below what is used', async () => {
      const store = make(LEASE_MS);
      const { fence } = await one(store, 'a', { need: 90, want: 90 });
      expect((await one(store, 'b', { need: 20, want: 20 })).ceiling).toBe(0);
      expect((await one(store, 'a', { used: 70, fence })).ceiling).toBe(70);
      expect((await one(store, 'b', { need: 20, want: 20 })).ceiling).toBe(20);
      // Answers that were let finish used more than there was.
      expect((await one(store, 'a', { used: 130, fence })).ceiling).toBe(130);
    });

    test('of other counters and periods are their own', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', { need: 100, want: 100 });
      expect((await one(store, 'b', { counter: 'another', need: 100, want: 100 })).ceiling).toBe(100);
    });
  });

  describe(`${name}: a holder that does not renew its lease`, () => {
    test('may have used all of it, for as long as that counts', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', { used: 5, need: 50, want: 50 });
      expect((await one(store, 'b', { need: 60, want: 60 }, LEASE_MS + 59_999)).ceiling).toBe(0);
      expect((await one(store, 'b', { need: 60, want: 60 }, LEASE_MS + 60_000)).ceiling).toBe(60);
    });

    test('holds no concurrent requests', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', { used: 5, need: 50, want: 50, lingersMs: 0 });
      expect((await one(store, 'b', { need: 60, want: 60, lingersMs: 0 }, LEASE_MS)).ceiling).toBe(60);
    });

    test('speaks for itself when it comes back', async () => {
      const store = make(LEASE_MS);
      const { fence } = await one(store, 'a', { used: 5, need: 50, want: 50 });
      expect((await one(store, 'b', {}, LEASE_MS)).others).toBe(55);
      expect(await one(store, 'a', { used: 7, fence }, LEASE_MS + 1)).toMatchObject({
        ceiling: 7,
        wasTakenOver: false,
      });
      expect((await one(store, 'b', {}, LEASE_MS + 2)).others).toBe(7);
    });

    test('leaves what it used when it says good-bye', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', { need: 50, want: 50 });
      await store.leave(caller('a'), [claim({ used: 5, settled: 5 })]);
      expect((await one(store, 'b', {})).others).toBe(5);
      expect((await one(store, 'b', {}, 59_999)).others).toBe(5);
      expect((await one(store, 'b', {}, 60_000)).others).toBe(0);
    });
  });

  describe(`${name}: a claim`, () => {
    test('that comes late changes nothing', async () => {
      const store = make(LEASE_MS);
      const early = caller('a');
      const { fence } = await one(store, 'a', { used: 30, need: 10, want: 10 });
      await store.claim(early, [claim({ used: 5 })]);
      await store.leave(early, [claim({ used: 5, settled: 5 })]);
      expect((await one(store, 'b', {})).others).toBe(40);
      // Nor does one behind the end of the lease.
      await one(store, 'b', {}, LEASE_MS + 1);
      await store.claim({ ...early, nowMs: START + LEASE_MS + 2 }, [claim({ used: 5, fence })]);
      expect((await one(store, 'b', {}, LEASE_MS + 3)).others).toBe(40);
    });

    test('tells how many processes there are', async () => {
      const store = make(LEASE_MS);
      await store.claim(caller('a'), []);
      expect((await store.claim(caller('b'), [])).processes).toBeGreaterThanOrEqual(2);
      const alone = await store.claim(caller('b', 2 * LEASE_MS), []);
      expect(alone).toMatchObject({ processes: 1, settlesInMs: 0, leases: [] });
    });

    test('that cannot be met lets the others know what a fair share is', async () => {
      const store = make(LEASE_MS);
      expect((await one(store, 'a', { need: 90, want: 90 })).fairShare).toBe(100);
      expect((await one(store, 'b', { need: 20, want: 20 })).fairShare).toBe(50);
      expect((await one(store, 'a', { used: 90 }, 1)).fairShare).toBe(50);
      expect((await one(store, 'a', { used: 90 }, 5000)).fairShare).toBe(100);
    });
  });

  describe(`${name}: what the ledger knows`, () => {
    const budget = { counter: 'key ci usd', period: START, lingersMs: null };
    const begin = async (store: CounterStore, ms = 0, counter = budget.counter): Promise<number | null> =>
      (await store.restoring(caller('r', ms), [{ counter, period: START }]))[0] ?? null;
    const end = async (store: CounterStore, fence: number, spent: number, ms = 0): Promise<boolean> =>
      (await store.restored(caller('r', ms), [{ ...budget, fence, spent }]))[0] ?? false;
    const restore = async (store: CounterStore, spent: number, ms = 0): Promise<boolean> => {
      const fence = await begin(store, ms);
      return fence !== null && end(store, fence, spent, ms);
    };

    test('is asked before anything is leased', async () => {
      const store = make(LEASE_MS);
      expect(await one(store, 'a', { ...budget, need: 10, want: 10 })).toMatchObject({
        ceiling: 0,
        needsLedger: true,
      });
      expect(await restore(store, 30)).toBe(true);
      expect(await one(store, 'a', { ...budget, need: 70, want: 70 })).toMatchObject({
        ceiling: 70,
        others: 30,
        needsLedger: false,
      });
    });

    test('is asked by one process at a time, and too late is not at all', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', budget);
      const fence = (await begin(store)) ?? 0;
      expect(await begin(store, LEASE_MS - 1)).toBeNull();
      const next = (await begin(store, LEASE_MS)) ?? 0;
      expect(next).toBeGreaterThan(fence);
      expect(await end(store, fence, 99, LEASE_MS)).toBe(false);
      expect(await end(store, next, 30, LEASE_MS)).toBe(true);
      expect(await end(store, next, 30, LEASE_MS)).toBe(false);
      expect((await one(store, 'a', budget, LEASE_MS)).others).toBe(30);
      expect(await begin(store, 0, 'nobody has it')).toBeNull();
    });

    test('is set, never added: what the living have settled is part of it', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', budget);
      await restore(store, 30);
      const { fence } = await one(store, 'a', { ...budget, need: 20, want: 20 });
      await one(store, 'a', { ...budget, used: 15, settled: 10, fence });
      for (let times = 0; times < 3; times += 1) expect(await restore(store, 40)).toBe(true);
      expect(await one(store, 'b', { ...budget, need: 55, want: 55 })).toMatchObject({
        ceiling: 55,
        others: 45,
      });
    });

    test('replaces what a dead process may have used', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', budget);
      await restore(store, 0);
      const { fence } = await one(store, 'a', { ...budget, used: 10, settled: 10, need: 50, want: 50 });
      expect((await one(store, 'b', budget, LEASE_MS)).others).toBe(60);
      await restore(store, 12, LEASE_MS);
      expect((await one(store, 'b', budget, LEASE_MS)).others).toBe(12);
      // It lived after all: what it had settled is in the ledger's sum already.
      expect(await one(store, 'a', { ...budget, used: 15, settled: 12, fence }, LEASE_MS + 1)).toMatchObject({
        ceiling: 3,
        others: 12,
        wasTakenOver: true,
      });
    });

    test('counts once what somebody had settled who did not get the answer that said so', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', budget);
      await restore(store, 0);
      const { fence } = await one(store, 'a', { ...budget, used: 10, settled: 10 });
      await one(store, 'b', budget, LEASE_MS);
      await restore(store, 10, LEASE_MS);
      const said = { ...budget, used: 10, settled: 10, fence };
      const isOver = { ceiling: 0, others: 10, wasTakenOver: true };
      // Late by a lease, and answered where nobody waits any more.
      expect(await one(store, 'a', said, LEASE_MS + 1)).toMatchObject(isOver);
      expect(await one(store, 'a', said, LEASE_MS + 2)).toMatchObject(isOver);
      const again = await one(store, 'a', { ...said, need: 5, want: 5 }, 2 * LEASE_MS + 3);
      expect(again).toMatchObject({ ceiling: 5, others: 10, wasTakenOver: true });
      const since = { ...said, used: 3, settled: 2, fence: again.fence };
      expect(await one(store, 'a', since, 2 * LEASE_MS + 4)).toMatchObject({
        ceiling: 3,
        others: 10,
        wasTakenOver: false,
      });
    });

    test('is asked again of a window that rolls, and where it may have been told while things changed', async () => {
      const store = make(LEASE_MS);
      const rolling = { ...budget, reviewMs: 5000 };
      await one(store, 'a', rolling, -LEASE_MS);
      await restore(store, 30);
      expect((await one(store, 'a', rolling, 4999)).needsLedger).toBe(false);
      expect((await one(store, 'a', rolling, 5000)).needsLedger).toBe(true);
      const another = make(LEASE_MS);
      await one(another, 'a', { ...budget, used: 5, settled: 5 });
      await restore(another, 30);
      expect((await one(another, 'a', { ...budget, used: 5, settled: 5 }, 1)).needsLedger).toBe(false);
      expect((await one(another, 'b', budget, 10 * LEASE_MS)).needsLedger).toBe(true);
    });

    test('has nothing of a period that began later, and nothing more is leased of one long over', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', budget);
      const tomorrow = { ...budget, period: START + DAY, need: 10, want: 10 };
      expect(await one(store, 'a', tomorrow)).toMatchObject({ ceiling: 10, needsLedger: false });
      await one(store, 'a', { ...tomorrow, period: START + 2 * DAY });
      expect((await one(store, 'a', { ...budget, used: 4, need: 10, want: 10 })).ceiling).toBe(4);
    });

    test('is asked of what somebody had settled and says no more, which counts until then', async () => {
      const store = make(LEASE_MS);
      await one(store, 'a', { ...budget, used: 50, settled: 50 });
      await restore(store, 50);
      expect((await one(store, 'a', { ...budget, used: 50, settled: 50 })).needsLedger).toBe(false);
      // It has left that to the store, which did not hear of it.
      const since = { ...budget, used: 5, settled: 0, need: 60, want: 60 };
      expect(await one(store, 'a', since)).toMatchObject({ ceiling: 5, others: 50, needsLedger: true });
      await restore(store, 30);
      const left = { ...since, need: 65, want: 65 };
      expect(await one(store, 'a', left)).toMatchObject({ ceiling: 70, others: 30, needsLedger: false });
    });

    test('is asked for a period that had begun before the store could watch, though somebody is in the one before it', async () => {
      const store = make(LEASE_MS);
      // Its clock is slow: for others the day is another.
      await one(store, 'slow', budget);
      const today = { ...budget, period: START - 1000 + CLOCKS_DIFFER_MS, need: 10, want: 10 };
      expect(await one(store, 'a', today)).toMatchObject({ ceiling: 0, needsLedger: true });
    });
  });

  test(`${name}: whatever happens in whatever order, the ceilings of the living never exceed the limit`, async () => {
    const step = fc.record({
      holder: fc.constantFrom('a', 'b', 'c'),
      need: fc.integer({ min: 0, max: 60 }),
      want: fc.integer({ min: 0, max: 60 }),
      uses: fc.double({ min: 0, max: 1, noNaN: true }),
      ms: fc.constantFrom(0, 1, 3000, LEASE_MS),
      leaves: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = make(LEASE_MS);
        const held = new Map<string, { used: number; lease: Lease }>();
        let ms = 0;
        let left = 0;
        for (const { holder, need, want, uses, ms: passed, leaves } of steps) {
          ms += passed;
          const before = held.get(holder);
          const mine = before && before.lease.expiresAtMs > START + ms ? before : undefined;
          const used = mine
            ? mine.used + Math.floor((mine.lease.ceiling - mine.used) * uses)
            : (before?.used ?? 0);
          const changes = {
            used,
            need,
            want: Math.max(need, want),
            fence: before?.lease.fence ?? 0,
            lingersMs: 1e9,
          };
          if (leaves && mine) {
            await store.leave(caller(holder, ms), [claim(changes)]);
            held.delete(holder);
            left += used;
          } else held.set(holder, { used, lease: await one(store, holder, changes, ms) });
          const living = [...held.values()].filter(({ lease }) => lease.expiresAtMs > START + ms);
          expect(living.reduce((sum, { lease }) => sum + lease.ceiling, 0)).toBeLessThanOrEqual(100);
          const all = [...held.values()].reduce((sum, one) => sum + one.used, left);
          expect(all).toBeLessThanOrEqual(100);
          // What the last one sees of the others is all that any of them used.
          const seen = held.get(holder);
          if (seen) expect(seen.lease.ceiling + seen.lease.others).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 100 },
    );
  });
}
