// How much is said between processes and the server that they share limits through, and tell each other what routing knows:
// little, however many requests come.
import { expect, test } from 'bun:test';
import { RoutingExchange } from '../../src/exchange/index.ts';
import { Leases } from '../../src/leases/index.ts';
import {
  type LimitEntry,
  Limiter,
  MemoryCounterStore,
  nanoUsdOf,
  Reservation,
  type Scope,
} from '../../src/limits/index.ts';
import { MemoryRoutingState } from '../../src/routing/index.ts';
import { ManualClock } from '../manual-clock.ts';
import { A, B, DOWN, SETTINGS, SUCCESS } from '../routing-bench.ts';

const LEASE_MS = 3000;
const MODEL = 'sim/chat';
const USD = 0.001;

/** Five that apply to each request. */
const GATEWAY: readonly LimitEntry[] = [{ concurrent: 2000 }];
const PROJECT: readonly LimitEntry[] = [
  { usd: 5000, per: 'month' },
  { tokens: 10_000_000, per: 'minute' },
];
const KEY: readonly LimitEntry[] = [
  { usd: 500, per: 'day' },
  { requests: 60_000, per: 'minute' },
];

test('three processes with five limits each make no more than 20 calls for 1,000 requests', async () => {
  const clock = new ManualClock();
  const store = new MemoryCounterStore({ leaseMs: LEASE_MS });
  let told = 0;
  async function* nothing(): AsyncGenerator<never> {}
  const processes = ['a', 'b', 'c'].map((holder) => {
    const leases = new Leases({
      store,
      holder,
      leaseMs: LEASE_MS,
      ledger: { read: nothing },
      periodStart: (rule, nowMs) => limiter.periodStart(rule.window, nowMs),
      clock,
      elapsed: clock.now,
      whenUnreachable: 'share',
      processes: 1,
      log: { info: () => {}, warn: () => {} },
    });
    const limiter: Limiter = new Limiter({ now: clock.now, ceilings: leases });
    const scopes: readonly Scope[] = [
      limiter.scope({ kind: 'gateway', id: '', name: '' }, GATEWAY),
      limiter.scope({ kind: 'project', id: 'search', name: 'search' }, PROJECT),
      limiter.scope({ kind: 'key', id: 'ci', name: 'ci' }, KEY),
    ];
    const routing = new MemoryRoutingState({ now: clock.now, breaker: () => SETTINGS, isShared: true });
    const bulletin = { tell: () => void (told += 1), hear: () => {} };
    const exchange = new RoutingExchange({ bulletin, routing, clock, processes: () => leases.processes });
    return { leases, limiter, scopes, routing, exchange };
  });
  for (const { leases } of processes) await leases.open();
  let requests = 0;
  let refused = 0;
  const demand = { model: MODEL, endUser: null, tokens: 1200, nanoUsd: nanoUsdOf(USD) };
  /** A hundred requests a second for each of them. */
  const second = async (): Promise<void> => {
    for (let at = 0; at < 100; at += 1) {
      for (const { limiter, scopes, routing } of processes) {
        requests += 1;
        // One endpoint of two fails now and then.
        routing.begin(A, true).ended(SUCCESS);
        routing.begin(B, true).ended(requests % 50 === 0 ? DOWN : SUCCESS);
        let outcome = limiter.admit(scopes, demand, clock.now() + 60_000);
        for (let times = 0; !(outcome instanceof Reservation) && times < 8; times += 1) {
          await limiter.obtain(scopes, demand);
          outcome = limiter.admit(scopes, demand, clock.now() + 60_000);
        }
        if (!(outcome instanceof Reservation)) refused += 1;
        else {
          const reservation = outcome;
          clock.after(2000, () =>
            limiter.settle(reservation, { requests: 1, tokens: 900, nanoUsd: nanoUsdOf(USD) }),
          );
        }
      }
      clock.advance(10);
      for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
    }
  };
  const calls = (): number => processes.reduce((sum, { leases }) => sum + leases.traffic.calls, told);
  // They get to know how fast it goes.
  for (let at = 0; at < 5; at += 1) await second();
  const [callsBefore, requestsBefore] = [calls(), requests];
  for (let at = 0; at < 20; at += 1) await second();
  const perThousand = ((calls() - callsBefore) / (requests - requestsBefore)) * 1000;
  expect(refused).toBe(0);
  expect(perThousand).toBeLessThanOrEqual(20);
  expect(told).toBeGreaterThan(0);
  for (const { leases, exchange } of processes) {
    exchange.stop();
    await leases.stop();
  }
});
