// Counters of end users: those that were used last, in full; the others by estimate. Names that requests invent by the
// million take no more memory than that.
import type { CounterMaker } from './counter-maker.ts';
import type { Counter } from './counter.ts';
import { ForgottenUsers } from './forgotten-users.ts';
import type { LimitRule } from './rule.ts';
import type { UnixMs } from '../../base/units.ts';

/** Counters that are kept in full, besides those of requests that run. */
const MOST_COUNTERS = 50_000;
/** Limits that have an estimate of their own for whom they have forgotten, of four megabytes; later ones share: names that one
 * owner's clients invent must not be counted for another's. */
const MOST_ESTIMATES = 16;
/** Counters that are looked at to make room for one. */
const MOST_LOOKED_AT = 8;

interface Entry {
  readonly counter: Counter;
  readonly rule: LimitRule;
  readonly limit: string;
}

export interface EndUserOptions {
  /** Counters that are kept in full. */
  readonly most?: number | undefined;
  /** True: others know what a counter that has to go has counted. */
  readonly isShared: boolean;
}

export class EndUsers {
  readonly #maker: CounterMaker;
  readonly #most: number;
  readonly #isShared: boolean;
  /** Order: the one that was asked for longest ago comes first. */
  readonly #entries = new Map<string, Entry>();
  /** Goes on where it was: looking for the first entry from the start again passes all that were deleted. */
  #oldest = this.#entries.entries();
  /** Forgotten users by limit; a limit that is not there has forgotten nobody. */
  readonly #forgotten = new Map<string, ForgottenUsers>();
  /** Sketches that several limits share, by what they measure. */
  readonly #shared = new Map<string, ForgottenUsers>();
  #sharing = 0;

  constructor(maker: CounterMaker, { most = MOST_COUNTERS, isShared }: EndUserOptions) {
    this.#maker = maker;
    this.#most = most;
    this.#isShared = isShared;
  }

  /** Number of counters that are kept in full. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * The counter of an end user under one limit.
   * @param limit names owner and rule
   * @param user the user's hash; empty for requests that name nobody, which share a counter
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
      // The settlement of a running request must find its counter.
      if (entry.counter.reserved > 0) this.#entries.set(name, entry);
      else if (!this.#isShared) this.#forget(name, entry, nowMs);
    }
  }

  /** The entry that was asked for longest ago. To be taken away: it is behind the iterator then. */
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

  /** The same one for a limit from its first forgotten user on. */
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
