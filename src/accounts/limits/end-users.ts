// Counters of end users. Recently used ones are exact, others are estimates in fixed memory. So invented user names cannot
// exhaust memory.
import type { CounterMaker } from './counter-maker.ts';
import type { Counter } from './counter.ts';
import { ForgottenUsers } from './forgotten-users.ts';
import type { LimitRule } from './rule.ts';
import type { UnixMs } from '../../base/units.ts';

/** Number of exact counters, not counting those of running requests. */
const MOST_COUNTERS = 50_000;
/** Limits with their own estimates (4 MB each); further limits share some. Otherwise one owner's invented names would be
 * counted for another owner. */
const MOST_ESTIMATES = 16;
/** Counters that are examined to evict one. */
const MOST_LOOKED_AT = 8;

interface Entry {
  readonly counter: Counter;
  readonly rule: LimitRule;
  readonly limit: string;
}

export interface EndUserOptions {
  /** Number of exact counters. */
  readonly most?: number | undefined;
  /** True: the shared store also has the usage, so that evicted counters need no estimate. */
  readonly isShared: boolean;
}

export class EndUsers {
  readonly #maker: CounterMaker;
  readonly #most: number;
  readonly #isShared: boolean;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** Iterator that continues where it stopped: a new one would pass over all deleted entries again. */
  #oldest = this.#entries.entries();
  /** Estimates of evicted users, by limit. */
  readonly #forgotten = new Map<string, ForgottenUsers>();
  /** Estimates shared by several limits, by what they measure. */
  readonly #shared = new Map<string, ForgottenUsers>();
  #sharing = 0;

  constructor(maker: CounterMaker, { most = MOST_COUNTERS, isShared }: EndUserOptions) {
    this.#maker = maker;
    this.#most = most;
    this.#isShared = isShared;
  }

  /** Current number of exact counters. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Counter of an end user for one limit.
   * @param limit name of owner and rule
   * @param user hash of the user; empty for requests without one, which share a counter
   */
  counterOf(limit: string, rule: LimitRule, user: string, nowMs: UnixMs): Counter {
    const name = `${limit} ${user}`;
    let entry = this.#entries.get(name);
    if (entry) this.#entries.delete(name);
    else {
      entry = { counter: this.#maker.make(rule.window), rule, limit };
      const known = this.#forgotten.get(limit)?.recall(name, nowMs);
      if (known && known.used > 0) entry.counter.restore(known.used, known.atMs, nowMs);
      this.#makeRoom(nowMs);
    }
    this.#entries.set(name, entry);
    return entry.counter;
  }

  #makeRoom(nowMs: UnixMs): void {
    for (let looked = 0; looked < MOST_LOOKED_AT && this.#entries.size >= this.#most; looked += 1) {
      const [name, entry] = this.#nextOldest() ?? [];
      if (name === undefined || !entry) return;
      this.#entries.delete(name);
      // Kept, because a running request will be settled in it.
      if (entry.counter.reserved > 0) this.#entries.set(name, entry);
      else if (!this.#isShared) this.#forget(name, entry, nowMs);
    }
  }

  /** The least recently used entry. The caller must remove it, because the iterator has passed it. */
  #nextOldest(): [string, Entry] | undefined {
    let next = this.#oldest.next();
    if (next.done) next = (this.#oldest = this.#entries.entries()).next();
    return next.done ? undefined : next.value;
  }

  #forget(name: string, { counter, rule, limit }: Entry, nowMs: UnixMs): void {
    const used = counter.used(nowMs);
    if (used <= 0) return;
    const { window } = rule;
    const lastMs = window.type === 'rolling' ? (counter.clearsAt(nowMs) ?? nowMs) - window.ms : nowMs;
    this.#estimateOf(limit, rule).remember(name, used, lastMs);
  }

  /** Estimates of a limit; always the same object after its first eviction. */
  #estimateOf(limit: string, { window, measures }: LimitRule): ForgottenUsers {
    const known = this.#forgotten.get(limit);
    if (known) return known;
    const shares = this.#forgotten.size - this.#sharing >= MOST_ESTIMATES;
    let estimate = shares ? this.#shared.get(measures) : undefined;
    estimate ??= new ForgottenUsers(window, this.#maker.calendarOf(window));
    if (shares) {
      this.#shared.set(measures, estimate);
      this.#sharing += 1;
    }
    this.#forgotten.set(limit, estimate);
    return estimate;
  }
}
