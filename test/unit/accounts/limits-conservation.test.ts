// Conservation of limits: no run spends more than a limit and its written bound; nothing stays reserved; after a crash the
// counters have what the ledger has.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type LimitEntry,
  Reservation,
  restoreFromLedger,
  type Scope,
} from '../../../src/accounts/limits/index.ts';
import { type LedgerEntry, LedgerOfTests } from '../../support/limits-ledger.ts';
import { HOUR, LimitsScene, MODEL } from '../../support/limits-scene.ts';
import { casesOf } from '../../support/share.ts';

const DAY = 24 * HOUR;
/** Nano-dollars between two readings of the meter. */
const STEP = 40;
const PROJECT: readonly LimitEntry[] = [
  { usd: 3e-7, per: '5h' },
  { tokens: 900, per: 'day' },
  { concurrent: 6 },
];
const KEY: readonly LimitEntry[] = [
  { usd: 2e-7, per: 'day' },
  { usd: 1.5e-6 },
  { requests: 6, per: '2h' },
  { requests: 4, per: 'minute', models: ['openai/*'] },
];
const MODELS = [MODEL, 'anthropic/claude'] as const;

interface Spent {
  requests: number;
  tokens: number;
  nanoUsd: number;
}

interface Running {
  readonly reservation: Reservation;
  readonly scopes: readonly Scope[];
  readonly model: string;
  readonly admittedAt: number;
  spent: Spent;
}

/** A gateway of two keys in one project, that can crash. */
class Gateway {
  scene = new LimitsScene();
  readonly ledger = new LedgerOfTests();
  readonly running: Running[] = [];
  scopes: (readonly Scope[])[] = this.#scopes();
  /** Answers that a budget stopped: each may have used a step too much. */
  stopped = 0;
  wasSetBack = false;
  /** Days before this one were over at the last crash, and were not asked for after it. */
  #knownSince = 0;
  /** Entries of the ledger at the last crash. */
  #before = 0;

  get now(): number {
    return this.scene.clock.now();
  }

  admit(key: number, model: string, expected: number, tokens: number): void {
    const scopes = this.scopes[key] ?? [];
    const estimate = {
      model,
      endUser: null,
      nanoUsd: expected,
      leastNanoUsd: Math.min(expected, STEP),
      tokens,
    };
    const reservation = this.scene.limiter.admit(scopes, estimate, Infinity);
    if (!(reservation instanceof Reservation)) return;
    const spent = { requests: 1, tokens: 0, nanoUsd: 0 };
    this.running.push({ reservation, scopes, model, admittedAt: this.now, spent });
  }

  /** A step of a stream. It is stopped when there is no more. */
  stream(at: number, nanoUsd: number): void {
    const one = this.running[at % this.running.length];
    if (!one) return;
    one.spent = { ...one.spent, nanoUsd: one.spent.nanoUsd + nanoUsd, tokens: one.spent.tokens + 1 };
    if (!this.scene.limiter.grow(one.reservation, one.spent)) return;
    this.stopped += 1;
    this.end(at, 'ends');
  }

  end(at: number, how: 'ends' | 'fails'): void {
    const [one] = this.running.splice(at % Math.max(1, this.running.length), 1);
    if (!one) return;
    const spent = how === 'ends' ? one.spent : { requests: 0, tokens: 0, nanoUsd: 0 };
    this.#record({ ...one, spent });
    this.scene.limiter.settle(one.reservation, spent);
    this.scene.limiter.settle(one.reservation, { requests: 9, tokens: 9, nanoUsd: null });
  }

  reload(): void {
    this.scopes = this.#scopes();
    this.scene.limiter.keep(this.scopes.flat().map(({ owner }) => owner));
  }

  /** Everything is forgotten; what ran is in the ledger as far as it was told, as a recovery writes it. */
  async crash(): Promise<void> {
    for (const one of this.running.splice(0)) this.#record(one);
    const { now } = this;
    this.scene = new LimitsScene();
    this.scene.clock.advance(now - this.scene.clock.now());
    this.scopes = this.#scopes();
    this.#knownSince = now - (now % DAY);
    this.#before = this.ledger.entries.length;
    await restoreFromLedger(this.scene.limiter, [...new Set(this.scopes.flat())], this.ledger, this.now);
  }

  move(ms: number): void {
    this.scene.clock.advance(ms);
    if (ms < 0) this.wasSetBack = true;
  }

  /** Amount that a key (or the project) has spent at these times, with what runs. */
  spent(owner: Scope, from: number, to: number): Spent {
    const all = [...this.ledger.entries, ...this.running.map((one) => ({ ...one, ...one.spent }))];
    return this.#sum(all, owner, from, to);
  }

  /**
   * The most that a key may have spent on a day. By a clock that is set back over a crash, a day before the crash is spent
   * once more; a later crash on that day finds both in the ledger, and then no more is spent.
   */
  mostOn(day: number, key: Scope, most: number): number {
    const before = this.#sum(this.ledger.entries.slice(0, this.#before), key, day, day + DAY).nanoUsd;
    return day < this.#knownSince ? before + most : Math.max(before, most);
  }

  #sum(all: readonly Omit<LedgerEntry, 'endUser'>[], owner: Scope, from: number, to: number): Spent {
    const sum = { requests: 0, tokens: 0, nanoUsd: 0 };
    for (const { scopes, admittedAt, requests, tokens, nanoUsd } of all) {
      if (admittedAt < from || admittedAt >= to) continue;
      if (!scopes.some((scope) => scope.owner.id === owner.owner.id)) continue;
      sum.requests += requests;
      sum.tokens += tokens;
      sum.nanoUsd += nanoUsd;
    }
    return sum;
  }

  #record({ scopes, model, admittedAt, spent }: Running): void {
    this.ledger.entries.push({ scopes, model, admittedAt, endUser: null, ...spent });
  }

  #scopes(): (readonly Scope[])[] {
    const owner = { kind: 'project', id: 'search', name: 'search' } as const;
    const project = this.scene.limiter.scope(owner, PROJECT);
    return ['a', 'b'].map((id) => [project, this.scene.key(KEY, id)]);
  }
}

const MINUTE = 60_000;
const act = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.constant('admit'), fc.nat(1), fc.nat(100)) },
  { weight: 12, arbitrary: fc.tuple(fc.constant('stream'), fc.nat(9), fc.nat(STEP)) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('ends', 'fails'), fc.nat(9), fc.constant(0)) },
  {
    weight: 4,
    arbitrary: fc.tuple(
      fc.constant('move'),
      fc.constantFrom(MINUTE / 2, MINUTE, 119 * MINUTE, 5 * HOUR),
      fc.constant(0),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('crash', 'reload'), fc.constant(0), fc.constant(0)) },
);
const jump = {
  weight: 2,
  arbitrary: fc.tuple(fc.constant('move'), fc.constantFrom(-1, -HOUR, -DAY, DAY), fc.constant(0)),
};

async function run(
  gateway: Gateway,
  [what, first, second]: readonly [string, number, number],
): Promise<void> {
  if (what === 'admit') gateway.admit(first, MODELS[second % 2] ?? MODEL, second, second);
  else if (what === 'stream') gateway.stream(first, second);
  else if (what === 'ends' || what === 'fails') gateway.end(first, what);
  else if (what === 'move') gateway.move(first);
  else if (what === 'crash') await gateway.crash();
  else gateway.reload();
}

/** No limit is exceeded now by more than its bound. */
function expectKept(gateway: Gateway): void {
  const { now, stopped } = gateway;
  const bound = stopped * STEP;
  const today = now - (now % DAY);
  for (const [project, key] of gateway.scopes) {
    if (!project || !key) throw new Error('no scopes');
    for (const day of [today - DAY, today, today + DAY])
      expect(gateway.spent(key, day, day + DAY).nanoUsd).toBeLessThanOrEqual(
        gateway.mostOn(day, key, 200 + bound),
      );
    expect(gateway.spent(key, 0, Infinity).nanoUsd).toBeLessThanOrEqual(1500 + bound);
    // By a clock that was set back, one span of time happens twice.
    if (gateway.wasSetBack) continue;
    expect(gateway.spent(key, now - 2 * HOUR + 1, now + 1).requests).toBeLessThanOrEqual(6);
    expect(gateway.spent(project, now - 5 * HOUR + 1, now + 1).nanoUsd).toBeLessThanOrEqual(300 + bound);
  }
  expect(gateway.running.length).toBeLessThanOrEqual(6);
  expect(gateway.scene.limiter.open).toBe(gateway.running.length);
}

/** Nothing is reserved when nothing runs, and calendar counters have what the ledger has. */
function expectBalanced(gateway: Gateway): void {
  while (gateway.running.length > 0) gateway.end(0, 'ends');
  const { now } = gateway;
  const today = now - (now % DAY);
  for (const scopes of gateway.scopes)
    for (const { limit, used, reserved } of gateway.scene.limiter.limitUsages(scopes, null, null)) {
      expect(reserved).toBe(0);
      const { kind, window } = limit.rule;
      const scope = scopes.find(({ owner }) => owner.id === limit.owner.id);
      if (!scope || kind === 'concurrent' || window.type === 'rolling' || gateway.wasSetBack) continue;
      const from = window.type === 'calendar' ? today : 0;
      const spent = gateway.spent(scope, from, Infinity);
      expect(used).toBe(kind === 'usd' ? spent.nanoUsd : kind === 'tokens' ? spent.tokens : spent.requests);
    }
}

/** Runs what may happen, and looks at all limits after each step. */
async function expectKeptWhatever(happens: fc.Arbitrary<readonly [string, number, number]>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(happens, { minLength: 50, maxLength: 150, size: 'max' }), async (acts) => {
      const gateway = new Gateway();
      for (const one of acts) {
        await run(gateway, one);
        expectKept(gateway);
      }
      expectBalanced(gateway);
    }),
    { numRuns: casesOf(800) },
  );
}

describe('no limit is exceeded by more than its bound', () => {
  test('with requests, failures, crashes and reloads in any order', () => expectKeptWhatever(act));

  test('with clocks that jump as well', () =>
    expectKeptWhatever(fc.oneof({ weight: 29, arbitrary: act }, jump)));
});
