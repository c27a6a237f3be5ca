// Running answers under a budget that processes share: each reserves in steps, and goes on while it asks for the next one.
import { afterEach, expect, test } from 'bun:test';
import { SharedLimits, type SharedLimitsOptions } from '../../../../src/cluster/counters/index.ts';
import {
  type CounterStore,
  type Estimate,
  Limiter,
  MemoryCounterStore,
  nanoUsdOf,
  type Refusal,
  type Reservation,
  type Scope,
} from '../../../../src/accounts/limits/index.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const LEASE_MS = 3000;
const PATIENCE_MS = 250;
const DAY_MS = 86_400_000;
const BUDGET = nanoUsdOf(1);
const CENT = nanoUsdOf(0.01);
const OWNER = { kind: 'key', id: 'ci', name: 'ci' } as const;

const opened: { readonly limits: SharedLimits; readonly clock: ManualClock }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await stop(each);
});

/** Ends one whose store may answer nothing: two calls wait for that. */
async function stop({ limits, clock }: (typeof opened)[number]): Promise<void> {
  const stopped = limits.stop();
  for (let times = 0; times < 3; times += 1) {
    clock.advance(PATIENCE_MS);
    await promised();
  }
  await stopped;
}

/** As deep as promises hang on each other here, and deeper. */
async function promised(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

/** Processes that share a budget of one dollar. */
class Installation {
  readonly clock = new ManualClock();
  store: CounterStore = new MemoryCounterStore({ leaseMs: LEASE_MS });
  calls = 0;

  async start(whenUnreachable: SharedLimitsOptions['whenUnreachable'] = 'local'): Promise<Process> {
    const limits: SharedLimits = new SharedLimits({
      store: {
        take: (...said) => {
          this.calls += 1;
          return this.store.take(...said);
        },
        restoring: (...said) => this.store.restoring(...said),
        restored: (...said) => this.store.restored(...said),
      },
      holder: `process-${opened.length}`,
      leaseMs: LEASE_MS,
      ledger: { async *read() {} },
      periodStart: (rule, nowMs) => limiter.periodStart(rule.window, nowMs),
      clock: this.clock,
      elapsed: this.clock.now,
      whenUnreachable,
      processes: 2,
      log: { info: () => {}, warn: () => {} },
    });
    opened.push({ limits, clock: this.clock });
    const limiter: Limiter = new Limiter({ now: this.clock.now, sharing: limits });
    await limits.open();
    return new Process(limiter, limiter.scope(OWNER, [{ usd: 1, per: 'day' }]), this.clock);
  }

  /** From now on the store answers nothing. */
  hang(): void {
    const never = (): Promise<never> => new Promise(() => {});
    this.store = { take: never, restoring: never, restored: never };
  }
}

class Process {
  readonly limiter: Limiter;
  readonly #scope: Scope;
  readonly #clock: ManualClock;

  constructor(limiter: Limiter, scope: Scope, clock: ManualClock) {
    this.limiter = limiter;
    this.#scope = scope;
    this.#clock = clock;
  }

  ask(estimate: Estimate): Promise<Reservation | Refusal> {
    return this.limiter.take([this.#scope], estimate, this.#clock.now() + 600_000);
  }

  /** A stream that is expected to cost ten cents. */
  admit(): Promise<Reservation | Refusal> {
    return this.ask({ model: 'm', endUser: null, tokens: 1, nanoUsd: 10 * CENT, leastNanoUsd: CENT });
  }

  async begin(): Promise<Reservation> {
    const outcome = await this.admit();
    return outcome.type === 'reservation' ? outcome : expect.unreachable('it was refused');
  }

  /** The answer has cost so much so far. @returns whether it may go on */
  isRunning(reservation: Reservation, cents: number): boolean {
    const spent = { requests: 1, tokens: 1, nanoUsd: cents * CENT };
    return this.limiter.grow(reservation, spent) === null;
  }
}

test('a response requests the next step when three quarters of the current one are used', async () => {
  const world = new Installation();
  const one = await world.start();
  const running = await one.begin();
  await promised();
  const before = world.calls;
  expect(one.isRunning(running, 7)).toBe(true);
  await promised();
  expect(world.calls).toBe(before);
  expect(one.isRunning(running, 8)).toBe(true);
  await promised();
  expect(world.calls).toBe(before + 1);
  const [hold] = running.holds;
  expect(hold?.granted).toBe(20 * CENT);
});

test('a whole response requests nothing more while its cost is within the estimate', async () => {
  const world = new Installation();
  const one = await world.start();
  const estimate = { model: 'm', endUser: null, tokens: 1, nanoUsd: 10 * CENT };
  const whole = await one.ask(estimate);
  if (whole.type === 'refusal') throw new Error('it was refused');
  await promised();
  const before = world.calls;
  expect(one.isRunning(whole, 10)).toBe(true);
  await promised();
  expect(world.calls).toBe(before);
});

test('answers of several processes together use up the budget, and end where it is spent', async () => {
  const world = new Installation();
  const [one, two] = [await world.start(), await world.start()];
  const [first, second] = [await one.begin(), await two.begin()];
  const spent = [0, 0];
  for (const [at, process, running] of [
    [0, one, first],
    [1, two, second],
  ] as const) {
    while (spent[at] !== undefined && spent[at] < 200) {
      spent[at] += 1;
      const isGoingOn = process.isRunning(running, spent[at]);
      await promised();
      if (!isGoingOn) break;
    }
    process.limiter.settle(running, { requests: 1, tokens: 1, nanoUsd: (spent[at] ?? 0) * CENT });
    await promised();
  }
  const [a = 0, b = 0] = spent;
  // Until it was said that there is no more, each went on: one read.
  expect(a + b).toBeGreaterThanOrEqual(100);
  expect(a + b).toBeLessThanOrEqual(102);
  expect(BUDGET).toBe(100 * CENT);
  expect((await one.admit()).type).toBe('refusal');
});

test.each([
  ['refuse', 11, false],
  ['local', 11, true],
  ['local', 60, false],
  ['allow', 500, true],
] as const)(
  'a response waits at most 250 ms, and then %s decides: at %i cents it continues: %p',
  async (whenUnreachable, cents, isGoingOn) => {
    const world = new Installation();
    const one = await world.start(whenUnreachable);
    await world.start(whenUnreachable);
    world.clock.advance(1000);
    await promised();
    const running = await one.begin();
    world.hang();
    expect(one.isRunning(running, 8)).toBe(true);
    // It goes on while nobody answers.
    expect(one.isRunning(running, cents)).toBe(true);
    world.clock.advance(PATIENCE_MS);
    await promised();
    expect(one.isRunning(running, cents + 1)).toBe(isGoingOn);
  },
);

test('a request during an outage of the store waits for two calls, and no longer', async () => {
  const world = new Installation();
  const one = await world.start();
  world.hang();
  const answered: string[] = [];
  const ask = (name: string): void => void one.admit().then(() => answered.push(name));
  ask('first');
  await promised();
  world.clock.advance(PATIENCE_MS);
  await promised();
  ask('second');
  await promised();
  expect(answered).toEqual([]);
  world.clock.advance(PATIENCE_MS);
  await promised();
  expect(answered.toSorted()).toEqual(['first', 'second']);
});

test('unused reservations are released when the response ends', async () => {
  const world = new Installation();
  const [one, two] = [await world.start(), await world.start()];
  const running = await one.begin();
  for (let at = 0; at < 9; at += 1) await two.begin();
  expect((await two.admit()).type).toBe('refusal');
  one.limiter.settle(running, { requests: 1, tokens: 1, nanoUsd: 3 * CENT });
  world.clock.advance(200);
  await promised();
  const [hold] = (await two.begin()).holds;
  expect(hold?.granted).toBe(7 * CENT);
});

test('local spending of a process that never returned is available again until the ledger is read', async () => {
  const world = new Installation();
  const [one, two] = [await world.start(), await world.start()];
  const { store } = world;
  one.limiter.settle(await one.begin(), { requests: 1, tokens: 1, nanoUsd: 10 * CENT });
  await promised();
  world.hang();
  world.clock.advance(5 * PATIENCE_MS);
  await promised();
  world.clock.advance(5 * PATIENCE_MS);
  await promised();
  // It is alone: half of what was left is its own.
  const alone = await Promise.all(Array.from({ length: 10 }, () => one.admit()));
  expect(alone.filter(({ type }) => type === 'reservation').length).toBeGreaterThanOrEqual(4);
  for (const ended of opened.splice(0, 1)) await stop(ended);
  world.store = store;
  for (let times = 0; times < 8; times += 1) {
    world.clock.advance(PATIENCE_MS);
    await promised();
  }
  const rest = await Promise.all(Array.from({ length: 12 }, () => two.admit()));
  expect(rest.filter(({ type }) => type === 'reservation').length).toBe(9);
});

test('a process that has spent nothing itself says when a budget that others have spent resets', async () => {
  const world = new Installation();
  const one = await world.start();
  const two = await world.start();
  const whole = await one.ask({ model: 'm', endUser: null, tokens: 1, nanoUsd: BUDGET });
  if (whole.type === 'refusal') throw new Error('it was refused');
  one.limiter.settle(whole, { requests: 1, tokens: 1, nanoUsd: BUDGET });
  await promised();
  const midnight = (Math.floor(world.clock.now() / DAY_MS) + 1) * DAY_MS;
  expect(await two.admit()).toMatchObject({ reason: 'budget', used: BUDGET, frees: midnight });
});
