// Shares limits among processes that one of them serves, in its memory. What it forgets when it ends, the ledger knows.
import {
  type Caller,
  type Claim,
  type Claimed,
  type CounterPeriod,
  type CounterStore,
  type Holder,
  isInLedger,
  type Lease,
  type LedgerWord,
} from './counter-store.ts';
import { SharedCounter } from './shared-counter.ts';

/** Periods of a counter that are remembered: the current one, and that before it for those who come late. */
const PERIODS = 2;
/** By how much clocks may differ: so much earlier a period may have begun for somebody, in milliseconds. */
const CLOCKS_DIFFER_MS = 10_000;

export interface MemoryCounterOptions {
  /** How long a lease holds that is not renewed. */
  readonly leaseMs: number;
  /** Unix milliseconds since which it may have forgotten leases that others still have; absent: there are none. */
  readonly emptySinceMs?: number | undefined;
}

export class MemoryCounterStore implements CounterStore {
  readonly #leaseMs: number;
  readonly #counters = new Map<string, SharedCounter[]>();
  /** When each was heard last, in Unix milliseconds. */
  readonly #heard = new Map<Holder, number>();
  #settledAtMs: number;
  #fence: number;

  constructor({ leaseMs, emptySinceMs }: MemoryCounterOptions) {
    this.#leaseMs = leaseMs;
    this.#settledAtMs = emptySinceMs === undefined ? 0 : emptySinceMs + leaseMs;
    // A thousand in every millisecond: one that lost its data begins above all that it had.
    this.#fence = (emptySinceMs ?? 0) * 1000;
  }

  claim({ holder, turn, nowMs }: Caller, claims: readonly Claim[]): Promise<Claimed> {
    this.#hear(holder, nowMs);
    const settlesInMs = Math.max(0, this.#settledAtMs - nowMs);
    const expiresAtMs = nowMs + this.#leaseMs;
    const leases = claims.map((claim): Lease => {
      const { counter, period, used, limit } = claim;
      const fence = this.#nextFence();
      const terms = { turn, fence, expiresAtMs, nowMs, isSettled: settlesInMs === 0 };
      const lease = this.#find(claim, nowMs)?.claim(holder, claim, terms);
      // Nothing more of a period that is long over.
      const over = { ceiling: used, others: 0, fairShare: limit, needsLedger: false, wasTakenOver: false };
      return { counter, period, fence, expiresAtMs, ...(lease ?? over) };
    });
    return Promise.resolve({ leases, processes: this.#heard.size, settlesInMs });
  }

  leave({ holder, turn, nowMs }: Caller, claims: readonly Claim[]): Promise<void> {
    for (const claim of claims) {
      const shared = this.#known(claim);
      shared?.leave(holder, claim, turn, nowMs);
      if (shared?.isForgettable(nowMs)) this.#counters.delete(claim.counter);
    }
    return Promise.resolve();
  }

  restoring({ nowMs }: Caller, counters: readonly CounterPeriod[]): Promise<readonly (number | null)[]> {
    const begin = (one: CounterPeriod): number | null => {
      const shared = this.#known(one);
      if (!shared?.mayRestore(nowMs) || nowMs < this.#settledAtMs) return null;
      const fence = this.#nextFence();
      shared.restoring(fence, nowMs + this.#leaseMs, nowMs);
      return fence;
    };
    return Promise.resolve(counters.map(begin));
  }

  restored({ nowMs }: Caller, words: readonly LedgerWord[]): Promise<readonly boolean[]> {
    const set = (word: LedgerWord): boolean =>
      this.#known(word)?.restored(word.fence, word.spent, nowMs) ?? false;
    return Promise.resolve(words.map(set));
  }

  #nextFence(): number {
    this.#fence += 1;
    return this.#fence;
  }

  #hear(holder: Holder, nowMs: number): void {
    this.#heard.set(holder, nowMs);
    for (const [other, atMs] of this.#heard) if (atMs + this.#leaseMs < nowMs) this.#heard.delete(other);
  }

  #known({ counter, period }: CounterPeriod): SharedCounter | undefined {
    return this.#counters.get(counter)?.find((shared) => shared.period === period);
  }

  /** The counter of a claim, made where it is the first; undefined where its period is long over. */
  #find(claim: Claim, nowMs: number): SharedCounter | undefined {
    const known = this.#known(claim);
    if (known) return known;
    const { counter, period, lingersMs, reviewMs } = claim;
    const periods = this.#counters.get(counter) ?? [];
    const [oldest] = periods;
    if (oldest && periods.length >= PERIODS && period < oldest.period) return undefined;
    // Of a period that began while this was watching, the ledger has nothing that is not known here.
    const isWatched = oldest !== undefined && oldest.madeAtMs + CLOCKS_DIFFER_MS <= period;
    const isKnown = !isInLedger(claim) || isWatched;
    const shared = new SharedCounter({ period, lingersMs, reviewMs, isKnown, madeAtMs: nowMs });
    const all = [...periods, shared].toSorted((a, b) => a.period - b.period);
    this.#counters.set(counter, all.slice(-PERIODS));
    return shared;
  }
}
