// Calls between processes and the server that they share limits through. A limited request makes two; requests that come
// together share them.
import { expect, test } from 'bun:test';
import { SharedLimits } from '../../../../src/cluster/counters/index.ts';
import {
  type LimitEntry,
  Limiter,
  MemoryCounterStore,
  nanoUsdOf,
  type Refusal,
  type Reservation,
} from '../../../../src/accounts/limits/index.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const MODEL = 'sim/chat';
const USD = 0.001;
const ROUNDS = 100;

/** Five that apply to each request. */
const GATEWAY: readonly LimitEntry[] = [{ concurrent: 2000 }];
const PROJECT: readonly LimitEntry[] = [
  { usd: 5000, per: 'month' },
  { tokens: 1_000_000_000, per: 'minute' },
];
const KEY: readonly LimitEntry[] = [
  { usd: 500, per: 'day' },
  { requests: 1_000_000, per: 'minute' },
];

/** Calls for 1,000 requests, of which so many come together. */
async function callsPerThousand(together: number): Promise<number> {
  const clock = new ManualClock();
  const shared: SharedLimits = new SharedLimits({
    store: new MemoryCounterStore({ leaseMs: 3000 }),
    holder: 'a',
    leaseMs: 3000,
    ledger: { async *read() {} },
    periodStart: (rule, nowMs) => limiter.periodStart(rule.window, nowMs),
    clock,
    elapsed: clock.now,
    whenUnreachable: 'local',
    processes: 1,
    log: { info: () => {}, warn: () => {} },
  });
  const limiter: Limiter = new Limiter({ now: clock.now, sharing: shared });
  const scopes = [
    limiter.scope({ kind: 'gateway', id: '', name: '' }, GATEWAY),
    limiter.scope({ kind: 'project', id: 'search', name: 'search' }, PROJECT),
    limiter.scope({ kind: 'key', id: 'ci', name: 'ci' }, KEY),
  ];
  await shared.open();
  const estimate = { model: MODEL, endUser: null, tokens: 1200, nanoUsd: nanoUsdOf(USD) };
  const admit = (): Promise<Reservation | Refusal> => limiter.take(scopes, estimate, clock.now() + 60_000);
  // The ledger is asked once.
  await admit();
  const before = shared.traffic.calls;
  for (let round = 0; round < ROUNDS; round += 1) {
    const admitted = await Promise.all(Array.from({ length: together }, admit));
    for (const one of admitted) {
      if (one.type === 'refusal') throw new Error('refused');
      limiter.settle(one, { requests: 1, tokens: 900, nanoUsd: nanoUsdOf(USD) });
    }
    clock.advance(10);
    for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
  }
  const calls = shared.traffic.calls - before;
  await shared.stop();
  return (calls / (ROUNDS * together)) * 1000;
}

test('a limited request makes two calls, and requests that come together share them', async () => {
  expect(await callsPerThousand(1)).toBeLessThanOrEqual(2100);
  expect(await callsPerThousand(10)).toBeLessThanOrEqual(210);
  expect(await callsPerThousand(200)).toBeLessThanOrEqual(12);
});
