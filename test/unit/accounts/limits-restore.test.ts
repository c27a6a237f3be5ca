// Counters set from the ledger: at a start, and for limits that are new; what is asked of the ledger, and what is not.
import { expect, test } from 'bun:test';
import { admitWhenKnown } from '../../../src/engine/admit-when-known.ts';
import { limitError } from '../../../src/engine/limit-errors.ts';
import {
  Limits,
  type Refusal,
  restoreFromLedger,
  RestoredLimits,
  type LedgerSum,
  type LedgerSums,
  type Scope,
  type SumQuery,
  type Written,
} from '../../../src/accounts/limits/index.ts';
import { LedgerOfTests, type LedgerEntry } from '../../support/limits-ledger.ts';
import { HOUR, LimitsScene, MODEL, NOON } from '../../support/limits-scene.ts';

const DAY = 24 * HOUR;

function entry(scopes: readonly Scope[], admittedAt: number, more: Partial<LedgerEntry> = {}): LedgerEntry {
  return { scopes, admittedAt, endUser: null, model: MODEL, requests: 1, tokens: 10, nanoUsd: 5, ...more };
}

/** A ledger that notes what it is asked. */
class AskedLedger implements LedgerSums {
  readonly queries: SumQuery[] = [];

  async *read(query: SumQuery): AsyncIterable<readonly LedgerSum[]> {
    this.queries.push(query);
    yield await Promise.resolve([]);
  }
}

test('a start sets budgets, daily limits and rolling ones by owner, model and time', async () => {
  const scene = new LimitsScene();
  const project = scene.limiter.scope({ kind: 'project', id: 'search', name: 'search' }, [
    { usd: 1, per: 'month' },
  ]);
  const a = scene.key(
    [{ usd: 1, per: 'day' }, { usd: 1 }, { tokens: 99, per: 'day', models: ['openai/*'] }],
    'a',
  );
  const b = scene.key([{ requests: 9, per: '5h' }, { requests: 9, per: 'minute' }, { concurrent: 9 }], 'b');
  const ledger = new LedgerOfTests();
  ledger.entries.push(
    entry([project, a], NOON - 1),
    entry([project, a], NOON - 2, { model: 'anthropic/claude', nanoUsd: 7 }),
    entry([project, a], NOON - DAY, { nanoUsd: 100 }),
    entry([project, b], NOON - 5 * HOUR - 1),
    entry([project, b], NOON - 2 * HOUR - 1, { requests: 3 }),
    entry([project, b], NOON - HOUR / 2),
  );
  await restoreFromLedger(scene.limiter, [project, a, b], ledger, NOON);
  expect(scene.used(project)).toEqual([5 + 7 + 100 + 15]);
  expect(scene.used(a)).toEqual([12, 112, 10]);
  expect(scene.used(b)).toEqual([4, 0, 0]);
  // Each comes back when its hour is a window old.
  scene.clock.advance(3 * HOUR - 2);
  expect(scene.used(b)).toEqual([4, 0, 0]);
  scene.clock.advance(1);
  expect(scene.used(b)).toEqual([1, 0, 0]);
});

test('after a start with a clock that was set back, a request that runs over midnight counts for its own day', async () => {
  const scene = new LimitsScene();
  const key = scene.key([{ usd: 1e-7, per: 'day' }]);
  const ledger = new LedgerOfTests();
  ledger.entries.push(entry([key], NOON, { nanoUsd: 60 }), entry([key], NOON + 2 * DAY));
  await restoreFromLedger(scene.limiter, [key], ledger, NOON);
  const running = scene.admitted(key, { nanoUsd: 10 });
  scene.clock.advance(DAY);
  expect(scene.limiter.grow(running, { requests: 1, tokens: 1, nanoUsd: 35 })).toBeNull();
  expect(scene.limiter.grow(running, { requests: 1, tokens: 1, nanoUsd: 41 })).not.toBeNull();
});

test('the restore for thousands of keys needs a few queries, and none for limits that a restart resets', async () => {
  const scene = new LimitsScene();
  const ledger = new AskedLedger();
  const keys = Array.from({ length: 5000 }, (_, at) =>
    scene.key(
      [
        { usd: 1 + at, per: 'day' },
        { requests: 1 + at, per: '7d', each: 'end_user' },
        { tokens: 5, per: 'hour' },
        { concurrent: 1 },
      ],
      `key ${at}`,
    ),
  );
  await restoreFromLedger(scene.limiter, keys, ledger, NOON);
  expect(ledger.queries).toEqual([
    { by: 'key', byEndUser: false, fromMs: NOON - 12 * HOUR, inSlices: false },
    { by: 'key', byEndUser: true, fromMs: NOON - 7 * DAY, inSlices: true },
  ]);
  expect(keys.filter(({ isRead }) => isRead)).toEqual([]);
});

test('end users beyond number are set as well, within the memory they have', async () => {
  const scene = new LimitsScene(20);
  const key = scene.key([{ requests: 3, per: 'day', each: 'end_user' }]);
  const ledger = new LedgerOfTests();
  for (let n = 0; n < 200; n += 1)
    ledger.entries.push(entry([key], NOON - 1, { endUser: `user ${n}`, requests: 2 }));
  await restoreFromLedger(scene.limiter, [key], ledger, NOON);
  for (const user of ['user 0', 'user 100', 'user 199']) expect(scene.used(key, user)).toEqual([2]);
  expect(scene.used(key, 'nobody')).toEqual([0]);
});

test('running requests and those settled during the restore are counted once', async () => {
  const scene = new LimitsScene();
  const key = scene.key([
    { usd: 1, per: 'day' },
    { usd: 1, per: '5h' },
  ]);
  const ledger = new LedgerOfTests();
  const settle = (nanoUsd: number): void => {
    const reservation = scene.admitted(key, { nanoUsd });
    scene.limiter.settle(reservation, { requests: 1, tokens: 1, nanoUsd });
    ledger.entries.push(entry([key], scene.clock.now(), { nanoUsd }));
  };
  ledger.entries.push(entry([key], NOON - HOUR, { nanoUsd: 30 }));
  settle(8);
  const running = scene.admitted(key, { nanoUsd: 100 });
  for (let times = 0; times < 2; times += 1) {
    await restoreFromLedger(scene.limiter, [key], ledger, scene.clock.now());
    expect(scene.used(key)).toEqual([138, 138]);
  }
  scene.limiter.settle(running, { requests: 1, tokens: 1, nanoUsd: 60 });
  expect(scene.used(key)).toEqual([98, 98]);
});

test('during a long read of the ledger, only requests of owners with usage wait', async () => {
  const scene = new LimitsScene();
  const reported = Promise.withResolvers<void>();
  const limits = new Limits(
    { entriesOf: () => [], limitsProviders: () => false, all: () => written },
    scene.clock.now,
  );
  const owner = (id: string) => ({ kind: 'key', id, name: id }) as const;
  const written: Written[] = [
    { owner: owner('paying'), entries: [{ usd: 1 }, { usd: 1, per: 'day' }] },
    { owner: owner('daily'), entries: [{ usd: 1, per: 'day' }] },
    { owner: owner('fast'), entries: [{ requests: 2, per: 'minute' }] },
  ];
  const [paying, daily, fast] = limits.scopes(written).map((scope) => [scope]);
  if (!paying || !daily || !fast) throw new Error('three owners');
  const sums = new LedgerOfTests();
  sums.entries.push(entry(paying, NOON - 3 * DAY, { nanoUsd: 1e9 }));
  const ledger: LedgerSums = {
    async *read(query) {
      if (query.fromMs === 0) await reported.promise;
      yield* sums.read(query);
    },
  };
  const pauses: (() => void)[] = [];
  const pause = (): Promise<void> => new Promise((resolve) => pauses.push(resolve));
  const restored = new RestoredLimits({ limits, ledger, now: scene.clock.now, pause });
  const whole = restored.catchUp();
  const estimate = { model: 'm', endUser: null, tokens: 1, nanoUsd: 5 };
  const ask = (scopes: readonly Scope[]) => admitWhenKnown(limits.limiter, scopes, estimate, NOON + HOUR);
  // Nothing is asked for it, and nobody resolves a pause.
  expect(await ask(fast)).toMatchObject({ type: 'reservation' });
  // The day is told first.
  expect(await ask(daily)).toMatchObject({ type: 'reservation' });
  const waiting = ask(paying);
  const refused = ask(paying);
  // A request that has waited often enough is refused.
  while (!(await Promise.race([Promise.resolve(refused).then(() => true), othersRun()])))
    for (const resolve of pauses.splice(0)) resolve();
  expect(await refused).toMatchObject({ type: 'refusal', reason: 'unread', frees: NOON + 1000 });
  expect(limitError((await refused) as Refusal, NOON)).toMatchObject({
    code: 'limits_unread',
    httpStatus: 503,
  });
  const late = ask(paying);
  reported.resolve();
  await whole;
  expect(await late).toMatchObject({ type: 'refusal', reason: 'budget', used: 1e9 });
  expect(await waiting).toMatchObject({ type: 'refusal' });
  expect(await ask(daily)).toMatchObject({ type: 'reservation' });
});

function othersRun(): Promise<false> {
  return new Promise((resolve) => setImmediate(() => resolve(false)));
}
