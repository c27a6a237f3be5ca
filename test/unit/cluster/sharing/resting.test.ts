// Usage of limits for which nobody asks a process just now. It counts, whatever the store loses.
import { afterEach, expect, test } from 'bun:test';
import { SharedLimits } from '../../../../src/cluster/counters/index.ts';
import {
  type CounterStore,
  type LimitEntry,
  Limiter,
  MemoryCounterStore,
  Reservation,
  type Scope,
} from '../../../../src/accounts/limits/index.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const LEASE_MS = 3000;
const IDLE_MS = 12_000;
const OWNER = { kind: 'key', id: 'ci', name: 'ci' } as const;
const DONE = { requests: 1, tokens: 1, nanoUsd: 0 };

/** Processes that share one limit, and nothing else. */
class Installation {
  readonly clock = new ManualClock();
  store: CounterStore = new MemoryCounterStore({ leaseMs: LEASE_MS });
  readonly #entry: LimitEntry;

  constructor(entry: LimitEntry) {
    this.#entry = entry;
  }

  loseData(): void {
    this.store = new MemoryCounterStore({ leaseMs: LEASE_MS, emptySinceMs: this.clock.now() });
  }

  async start(holder: string, mostEndUsers?: number): Promise<Process> {
    const limits: SharedLimits = new SharedLimits({
      store: {
        take: (...said) => this.store.take(...said),
        restoring: (...said) => this.store.restoring(...said),
        restored: (...said) => this.store.restored(...said),
      },
      holder,
      leaseMs: LEASE_MS,
      ledger: { async *read() {} },
      periodStart: (rule, nowMs) => limiter.periodStart(rule.window, nowMs),
      clock: this.clock,
      elapsed: this.clock.now,
      whenUnreachable: 'local',
      processes: 2,
      log: { info: () => {}, warn: () => {} },
    });
    const limiter: Limiter = new Limiter({ now: this.clock.now, sharing: limits, mostEndUsers });
    const process = new Process(limiter, limiter.scope(OWNER, [this.#entry]), this.clock);
    await limits.open();
    running.push(limits);
    return process;
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 50) {
      this.clock.advance(50);
      await promised();
    }
  }
}

class Process {
  readonly #limiter: Limiter;
  readonly #scope: Scope;
  readonly #clock: ManualClock;

  constructor(limiter: Limiter, scope: Scope, clock: ManualClock) {
    this.#limiter = limiter;
    this.#scope = scope;
    this.#clock = clock;
  }

  look(endUser: string): void {
    this.#limiter.check([this.#scope], { model: 'sim/chat', endUser, tokens: 0, nanoUsd: 0 });
  }

  /** @returns how many of so many requests were admitted, one after the other */
  async ask(times: number, endUser: string | null = null): Promise<number> {
    const estimate = { model: 'sim/chat', endUser, tokens: 0, nanoUsd: 0 };
    let admitted = 0;
    for (let at = 0; at < times; at += 1) {
      const outcome = await this.#limiter.take([this.#scope], estimate, this.#clock.now() + 60_000);
      if (!(outcome instanceof Reservation)) continue;
      admitted += 1;
      this.#limiter.settle(outcome, DONE);
    }
    return admitted;
  }
}

/** As deep as promises hang on each other here, and deeper. */
async function promised(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

const running: SharedLimits[] = [];
afterEach(async () => {
  for (const limits of running.splice(0)) await limits.stop();
});

test('a rate that a process used before it fell silent counts after the store has lost its data', async () => {
  const world = new Installation({ requests: 10, per: 'minute' });
  const silent = await world.start('silent');
  expect(await silent.ask(6)).toBe(6);
  await world.pass(IDLE_MS);
  const other = await world.start('other');
  world.loseData();
  await world.pass(2 * LEASE_MS);
  expect(await other.ask(10)).toBe(4);
  // A minute later it is free, and nobody says it again.
  await world.pass(60_000);
  expect(await other.ask(10)).toBe(10);
});

test('a process that has used most of a rate gets the rest at once after it was silent', async () => {
  const world = new Installation({ requests: 10, per: 'minute' });
  const silent = await world.start('silent');
  expect(await silent.ask(6)).toBe(6);
  await world.pass(IDLE_MS);
  expect(await silent.ask(4)).toBe(4);
});

test('the usage of a process during an outage of the store counts after the outage', async () => {
  const world = new Installation({ requests: 10, per: 'minute' });
  const silent = await world.start('silent');
  const other = await world.start('other');
  expect(await silent.ask(1)).toBe(1);
  await world.pass(IDLE_MS);
  const { store } = world;
  const gone = (): Promise<never> => Promise.reject(new Error('out of reach'));
  world.store = { take: gone, restoring: gone, restored: gone };
  await world.pass(4000);
  const alone = await silent.ask(10);
  expect(alone).toBe(4);
  world.store = store;
  await world.pass(IDLE_MS);
  expect(await other.ask(10)).toBe(10 - 1 - alone);
});

test('a counter that was evicted continues when its end user returns', async () => {
  const world = new Installation({ requests: 3, per: 'minute', each: 'end_user' });
  const process = await world.start('one', 10);
  expect(await process.ask(2, 'first')).toBe(2);
  // Each takes the place of one that came before.
  for (let at = 0; at < 20; at += 1) process.look(`other ${at}`);
  expect(await process.ask(3, 'first')).toBe(1);
  world.loseData();
  await world.pass(2 * LEASE_MS);
  expect(await (await world.start('two')).ask(3, 'first')).toBe(0);
});
