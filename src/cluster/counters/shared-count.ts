// One counter that processes share, as this one knows it: what others use, and how far it may go while nobody can be asked.
// Knows no store.
import type { Counter, Keeping, Limit, Shared, Slot } from '../../accounts/limits/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** Time after a refusal in which as much is not asked for again, in milliseconds. */
const REFUSED_MS = 150;
const HOUR = 3_600_000;

/** Terms that all counters of a process have just now. */
export interface CountTerms {
  /** Milliseconds that only go forward. */
  readonly elapsed: () => number;
  /** True while the store does not answer. */
  readonly isAlone: () => boolean;
  /** True while the store waits for everybody to report again, because it has lost its data. */
  readonly isUnsettled: () => boolean;
  /** Processes that share while nobody can be asked. 0: nothing is admitted. `null`: everything is. */
  readonly sharers: () => number | null;
  /** Unix milliseconds at which the calendar period of a limit began that holds now; 0 where it has none. */
  readonly periodOf: (limit: Limit) => number;
}

/** Usage of this process in one slot of a counter. It is reported as a whole. */
export interface OwnCell {
  readonly count: SharedCount;
  readonly slot: Slot;
  /** Names it in this process. */
  readonly number: number;
  readonly period: number;
  /** The name under which the process reports it. */
  generation: number;
  /** Part of the slot that is left to the ledger. */
  base: number;
  /** Part of the slot that nobody has granted yet. */
  pending: number;
  /** Amount of the slot when it was reported last. */
  published: number;
  isDirty: boolean;
  /** False once it counts no more, until it is used again. */
  isKept: boolean;
  /** Call that it goes with, and its index there. */
  turn: number;
  at: number;
}

export class SharedCount implements Shared {
  readonly name: string;
  readonly counter: Counter;
  readonly endUser: string | null;
  readonly keeping: Keeping;
  limit: Limit;
  /** Amount that is reserved here and not granted yet. */
  pending = 0;
  /** True: the store could not be told what the ledger knows. */
  isUnreadable = false;
  readonly #terms: CountTerms;
  /** The period of which the store has told, and what this process used in it then; -1: none yet. */
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

  /** Begin of the current period in Unix milliseconds; 0 where it has none. */
  get period(): number {
    return this.#terms.periodOf(this.limit);
  }

  room(): number {
    return this.isBlind ? this.share() : this.limit.rule.amount - this.others;
  }

  mayHave(amount: number): boolean {
    if (this.isBlind) return false;
    return amount < this.#refused || this.#terms.elapsed() >= this.#refusedUntil;
  }

  /** True where nobody can say what others use, and it is not waited for. Money waits for a store that has lost its data. */
  get isBlind(): boolean {
    if (this.isUnreadable || this.#terms.isAlone()) return true;
    return this.#terms.isUnsettled() && this.limit.rule.kind !== 'usd';
  }

  /** The store has told what all processes use in a period. */
  received(total: number, period: number, nowMs: UnixMs): void {
    if (period !== this.period) return;
    this.#period = period;
    this.#receivedAt = this.#terms.elapsed();
    this.#own = this.counter.used(nowMs) - this.pending;
    this.#others = Math.max(0, total - this.#own);
  }

  /** So much was not free. */
  refused(amount: number): void {
    const elapsed = this.#terms.elapsed();
    this.#refused = elapsed < this.#refusedUntil ? Math.min(this.#refused, amount) : amount;
    this.#refusedUntil = elapsed + REFUSED_MS;
  }

  /** Something came free here. */
  freed(): void {
    this.#refusedUntil = -Infinity;
  }

  /** True where the store has told of the current period. */
  get #isCurrent(): boolean {
    return this.#period === this.period;
  }

  /** Up to where the counter may go here while nobody can be asked. */
  share(): number {
    const sharers = this.#terms.sharers();
    if (sharers === null) return Infinity;
    if (sharers === 0) return 0;
    const { amount } = this.limit.rule;
    const even = Math.floor(amount / sharers);
    // Amounts that come free by time do so in every process.
    if (!this.keeping.isInLedger || !this.#isCurrent) return even;
    const left = Math.max(0, amount - this.#own - this.#others);
    return Math.min(this.#own + Math.floor(left / sharers), Math.max(this.#own, even));
  }
}

function keepingOf({ rule: { kind, window } }: Limit): Keeping {
  if (kind === 'concurrent') return { windowMs: 0, isInLedger: false };
  if (window.type !== 'rolling') return { windowMs: null, isInLedger: true };
  // The ledger has no times of requests, but sums of minutes: it knows nothing of rates.
  return { windowMs: window.ms, isInLedger: kind === 'usd' || window.ms > HOUR };
}
