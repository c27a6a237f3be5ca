// This process's view of a shared counter: the usage of other processes, and its own share while the store is unreachable.
import type { Counter, Keeping, Limit, Shared, Slot } from '../../accounts/limits/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** Milliseconds after a refusal in which the same amount is not requested again. */
const REFUSED_MS = 150;
const HOUR = 3_600_000;

/** Current state that all counters of a process share. */
export interface CountTerms {
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  /** True while the store is unreachable. */
  readonly isAlone: () => boolean;
  /** True while the store waits for all processes to report again, because it lost its data. */
  readonly isUnsettled: () => boolean;
  /** Number of processes that share a limit while the store is unreachable. 0: nothing is admitted. `null`: everything is. */
  readonly processes: () => number | null;
  /** Start of the current calendar period of a limit in Unix milliseconds; 0: none. */
  readonly periodOf: (limit: Limit) => number;
}

/** Usage of this process in one slot of a counter, reported as a whole. */
export interface OwnCell {
  readonly count: SharedCount;
  readonly slot: Slot;
  /** Number of the cell in this process. */
  readonly number: number;
  readonly period: number;
  /** Generation of the process name under which it is reported. */
  generation: number;
  /** Part of the slot that is taken from the ledger. */
  base: number;
  /** Part of the slot that is not granted yet. */
  pending: number;
  /** Last reported amount of the slot. */
  published: number;
  isDirty: boolean;
  /** False once it is expired, until it is used again. */
  isKept: boolean;
  /** Call that reports it, and its index there. */
  turn: number;
  at: number;
}

export class SharedCount implements Shared {
  readonly name: string;
  readonly counter: Counter;
  readonly endUser: string | null;
  readonly keeping: Keeping;
  limit: Limit;
  /** Locally reserved amount that is not granted yet. */
  pending = 0;
  /** True: the counter could not be restored from the ledger. */
  isUnreadable = false;
  /** True once this process has compared the store with the ledger. */
  isCompared = false;
  readonly #terms: CountTerms;
  /** Period of the last response of the store, and this process's usage at that time; -1: none yet. */
  #period = -1;
  #receivedAt = -Infinity;
  #others = 0;
  #own = 0;
  #refused = Infinity;
  #refusedUntil = -Infinity;

  constructor(
    { name, limit, counter, endUser }: Pick<SharedCount, 'name' | 'limit' | 'counter' | 'endUser'>,
    terms: CountTerms,
  ) {
    this.name = name;
    this.limit = limit;
    this.counter = counter;
    this.endUser = endUser;
    this.keeping = keepingOf(limit);
    this.#terms = terms;
  }

  get others(): number {
    const { windowMs } = this.keeping;
    const isOver = windowMs !== null && windowMs > 0 && this.#terms.elapsed() - this.#receivedAt > windowMs;
    return isOver || !this.#isCurrent ? 0 : this.#others;
  }

  /**
   * True if the store may lack usage of processes that had another configuration: it was not limited, so it was not reported.
   * Each process therefore compares a limit that is new to it with the ledger once. End users are too many for that.
   */
  get mayLackUsage(): boolean {
    return !this.isCompared && this.keeping.isInLedger && this.endUser === null;
  }

  /** Start of the current period in Unix milliseconds; 0: none. */
  get period(): number {
    return this.#terms.periodOf(this.limit);
  }

  room(): number {
    return this.isUndecidable ? this.share() : this.limit.rule.amount - this.others;
  }

  mayHave(amount: number): boolean {
    if (this.isUndecidable) return false;
    return amount < this.#refused || this.#terms.elapsed() >= this.#refusedUntil;
  }

  /** True if the usage of others is unknown and requests do not wait for it. Budgets wait for a store that lost its data. */
  get isUndecidable(): boolean {
    if (this.isUnreadable || this.#terms.isAlone()) return true;
    return this.#terms.isUnsettled() && this.limit.rule.kind !== 'usd';
  }

  /** Applies the total usage of a period from the store. */
  received(total: number, period: number, nowMs: UnixMs): void {
    if (period !== this.period) return;
    this.#period = period;
    this.#receivedAt = this.#terms.elapsed();
    this.#own = this.counter.used(nowMs) - this.pending;
    this.#others = Math.max(0, total - this.#own);
  }

  /** Notes that an amount was refused. */
  refused(amount: number): void {
    const elapsed = this.#terms.elapsed();
    this.#refused = elapsed < this.#refusedUntil ? Math.min(this.#refused, amount) : amount;
    this.#refusedUntil = elapsed + REFUSED_MS;
  }

  /** Notes that an amount was freed in this process. */
  freed(): void {
    this.#refusedUntil = -Infinity;
  }

  /** True if the store has reported the current period. */
  get #isCurrent(): boolean {
    return this.#period === this.period;
  }

  /** Highest usage that this process may reach while the store is unreachable. */
  share(): number {
    const processes = this.#terms.processes();
    if (processes === null) return Infinity;
    if (processes === 0) return 0;
    const { amount } = this.limit.rule;
    const even = Math.floor(amount / processes);
    // Amounts that are freed by time are freed in every process.
    if (!this.keeping.isInLedger || !this.#isCurrent) return even;
    const left = Math.max(0, amount - this.#own - this.#others);
    return Math.min(this.#own + Math.floor(left / processes), Math.max(this.#own, even));
  }
}

function keepingOf({ rule: { kind, window } }: Limit): Keeping {
  if (kind === 'concurrent') return { windowMs: 0, isInLedger: false };
  if (window.type !== 'rolling') return { windowMs: null, isInLedger: true };
  // The ledger cannot restore rates, because it has sums of minutes instead of single requests.
  return { windowMs: window.ms, isInLedger: kind === 'usd' || window.ms > HOUR };
}
