// Shared counters in the memory of one process, the supervisor. After its restart they are restored from the ledger.
import type {
  Answered,
  Caller,
  Cell,
  CounterPeriod,
  CounterStore,
  Holder,
  LedgerWord,
  Wanted,
} from './counter-store.ts';
import { SharedCounter } from './shared-counter.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Periods that are kept per counter: the current one, and the previous one for late calls. */
const PERIODS = 2;
/** Tolerated difference of clocks in milliseconds: a period may have begun earlier for another process. */
const CLOCKS_DIFFER_MS = 10_000;
/** Number of counters from which on unused ones are removed periodically. */
const LEAST_KEPT = 1024;

export interface MemoryCounterOptions {
  /** Milliseconds without a call after which a process counts as dead. */
  readonly leaseMs: DurationMs;
  /** Unix milliseconds at which the store may have lost its data. Absent: never. */
  readonly emptySinceMs?: UnixMs | undefined;
}

export class MemoryCounterStore implements CounterStore {
  readonly #leaseMs: DurationMs;
  readonly #epoch: number;
  readonly #counters = new Map<string, SharedCounter[]>();
  /** Latest turn of each live process, and its time. */
  readonly #seen = new Map<Holder, { readonly turn: number; readonly atMs: UnixMs }>();
  readonly #settledAtMs: UnixMs;
  #fence = 0;
  #mostKept = LEAST_KEPT;

  constructor({ leaseMs, emptySinceMs }: MemoryCounterOptions) {
    this.#leaseMs = leaseMs;
    this.#epoch = emptySinceMs ?? 0;
    this.#settledAtMs = emptySinceMs === undefined ? 0 : emptySinceMs + leaseMs;
  }

  take(caller: Caller, cells: readonly Cell[], requests: readonly (readonly Wanted[])[]): Promise<Answered> {
    const { nowMs } = caller;
    const settlesInMs = Math.max(0, this.#settledAtMs - nowMs);
    const reply = { atMs: nowMs, epoch: this.#epoch, settlesInMs };
    if (!this.#accept(caller))
      return Promise.resolve({ ...reply, isAway: true, processes: this.#seen.size, states: [], granted: [] });
    const counters = cells.map((cell) => {
      const counter = this.#find(cell, nowMs);
      counter?.put(cell, nowMs);
      return counter;
    });
    const granted = requests.map((wanted) => {
      const amounts: number[] = [];
      for (const [index, one] of wanted.entries()) {
        const amount = counters[one.at]?.free(one, settlesInMs === 0, nowMs);
        if (amount === undefined || amount === null) return index;
        amounts.push(amount);
      }
      for (const [index, { at }] of wanted.entries()) {
        const cell = cells[at];
        if (cell) counters[at]?.grant(cell, amounts[index] ?? 0, nowMs);
      }
      return amounts;
    });
    // A period that ended long ago receives no more charges.
    const over = { total: 0, needsLedger: false, isUnknown: false };
    const states = counters.map((counter) => counter?.state(nowMs) ?? over);
    if (this.#counters.size > this.#mostKept) this.#forgetUnused(nowMs);
    return Promise.resolve({ ...reply, isAway: false, processes: this.#seen.size, states, granted });
  }

  restoring({ nowMs }: Caller, counters: readonly CounterPeriod[]): Promise<readonly (number | null)[]> {
    const begin = (one: CounterPeriod): number | null => {
      this.#fence += 1;
      const isBegun = nowMs >= this.#settledAtMs && this.#known(one)?.restoring(this.#fence, nowMs);
      return isBegun ? this.#fence : null;
    };
    return Promise.resolve(counters.map(begin));
  }

  restored({ nowMs }: Caller, words: readonly LedgerWord[]): Promise<readonly boolean[]> {
    return Promise.resolve(
      words.map((word) => this.#known(word)?.restored(word.fence, word.sums, nowMs) ?? false),
    );
  }

  /** @returns false if the call must be ignored: it is late, or its process was silent for too long */
  #accept({ holder, turn, lastReplyAtMs, nowMs }: Caller): boolean {
    if (lastReplyAtMs > 0 && nowMs - lastReplyAtMs >= this.#leaseMs) return false;
    if (turn <= (this.#seen.get(holder)?.turn ?? 0)) return false;
    for (const [other, { atMs }] of this.#seen) if (atMs + this.#leaseMs <= nowMs) this.#seen.delete(other);
    this.#seen.set(holder, { turn, atMs: nowMs });
    return true;
  }

  #known({ counter, period }: CounterPeriod): SharedCounter | undefined {
    return this.#counters.get(counter)?.find((shared) => shared.period === period);
  }

  /** Counter of a cell, created if needed; undefined if its period ended long ago. */
  #find({ counter, period, windowMs, isInLedger }: Cell, nowMs: UnixMs): SharedCounter | undefined {
    const periods = this.#counters.get(counter) ?? [];
    const known = periods.find((shared) => shared.period === period);
    if (known) return known;
    const [oldest] = periods;
    if (oldest && periods.length >= PERIODS && period < oldest.period) return undefined;
    // A period that began during the lifetime of this store needs no sums from the ledger.
    const isWatched = oldest !== undefined && oldest.madeAtMs + CLOCKS_DIFFER_MS <= period;
    const isKnown = !isInLedger || isWatched;
    const lastSeenAt = (holder: Holder): number => this.#seen.get(holder)?.atMs ?? -Infinity;
    const terms = {
      period,
      leaseMs: this.#leaseMs,
      windowMs,
      isInLedger,
      isKnown,
      madeAtMs: nowMs,
      lastSeenAt,
    };
    const shared = new SharedCounter(terms);
    const all = [...periods, shared].toSorted((a, b) => a.period - b.period);
    this.#counters.set(counter, all.slice(-PERIODS));
    return shared;
  }

  #forgetUnused(nowMs: UnixMs): void {
    for (const [name, periods] of this.#counters)
      if (periods.every((shared) => shared.isForgettable(nowMs))) this.#counters.delete(name);
    this.#mostKept = Math.max(LEAST_KEPT, 2 * this.#counters.size);
  }
}
