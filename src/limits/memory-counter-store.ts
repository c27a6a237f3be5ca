// Shares limits among processes that one of them serves, in its memory. What it forgets when it ends, the ledger knows.
import type { Claim, CounterStore, Holder, Lease } from './counter-store.ts';
import { SharedCounter } from './shared-counter.ts';

/** Periods of a counter that are remembered: the current one, and that before it for those who come late. */
const PERIODS = 2;

export class MemoryCounterStore implements CounterStore {
  readonly #leaseMs: number;
  readonly #counters = new Map<string, SharedCounter[]>();
  #fence = 0;

  /** @param leaseMs how long a lease holds that is not renewed */
  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  claim(holder: Holder, claims: readonly Claim[], nowMs: number): Promise<readonly Lease[]> {
    const leases = claims.map((claim) => {
      const { counter, period, used } = claim;
      this.#fence += 1;
      const expiresAtMs = nowMs + this.#leaseMs;
      const lease = this.#find(claim)?.claim(holder, claim, this.#fence, expiresAtMs, nowMs);
      // Nothing more of a period that is long over.
      const over = { ceiling: used, others: 0, needsLedger: false, wasTakenOver: false };
      return { counter, period, fence: this.#fence, expiresAtMs, ...(lease ?? over) };
    });
    return Promise.resolve(leases);
  }

  leave(holder: Holder, claims: readonly Claim[], nowMs: number): Promise<void> {
    for (const claim of claims) {
      const shared = this.#find(claim);
      shared?.leave(holder, claim, nowMs);
      if (shared?.isForgettable(nowMs)) this.#counters.delete(claim.counter);
    }
    return Promise.resolve();
  }

  restoring(counter: string, period: number, nowMs: number): Promise<number | null> {
    const shared = this.#known(counter, period);
    if (!shared?.mayRestore(nowMs)) return Promise.resolve(null);
    this.#fence += 1;
    shared.restoring(this.#fence, nowMs + this.#leaseMs, nowMs);
    return Promise.resolve(this.#fence);
  }

  restored(counter: string, period: number, fence: number, spent: number, nowMs: number): Promise<boolean> {
    return Promise.resolve(this.#known(counter, period)?.restored(fence, spent, nowMs) ?? false);
  }

  #known(counter: string, period: number): SharedCounter | undefined {
    return this.#counters.get(counter)?.find((shared) => shared.period === period);
  }

  /** The counter of a claim, made where it is the first; undefined where its period is long over. */
  #find({ counter, period, lingersMs }: Claim): SharedCounter | undefined {
    const known = this.#known(counter, period);
    if (known) return known;
    const periods = this.#counters.get(counter) ?? [];
    const latest = periods.at(-1);
    if (latest && period < latest.period) return undefined;
    // Of a period that began while this was watching, the ledger has nothing that is not known here.
    const shared = new SharedCounter(period, lingersMs, lingersMs !== null || latest !== undefined);
    this.#counters.set(counter, [...periods, shared].slice(-PERIODS));
    return shared;
  }
}
