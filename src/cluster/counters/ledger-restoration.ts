// Restores shared counters from the ledger: unknown ones, and the usage of dead processes. One process does it for all.
import { type Caller, type CounterStore, type LedgerSums, spentOf } from '../../accounts/limits/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { inTime } from './reach.ts';
import type { SharedCount } from './shared-count.ts';
import type { DurationMs } from '../../base/units.ts';

/** Milliseconds between two checks whether another process has read the ledger. */
const RETRY_MS = 50;
/** Tolerated difference between the clocks of processes, in milliseconds. */
const CLOCKS_DIFFER_MS = 5000;
/** Maximum number of counters per ledger query. */
const MOST_COUNTERS = 500;

interface LedgerRestorationOptions {
  readonly store: CounterStore;
  readonly ledger: LedgerSums;
  readonly leaseMs: DurationMs;
  readonly clock: Clock;
  readonly elapsed: () => number;
  readonly log: Pick<Logger, 'warn'>;
  /** Calls the store. @returns null if it does not respond */
  readonly ask: <T>(call: (caller: Caller) => Promise<T>) => Promise<T | null>;
  /** Called with the number of restored counters. */
  readonly restored: (counters: number) => void;
}

export class LedgerRestoration {
  readonly #options: LedgerRestorationOptions;
  #isReading = false;
  #readAgainAt = -Infinity;
  #next = Promise.withResolvers<void>();

  constructor(options: LedgerRestorationOptions) {
    this.#options = options;
  }

  /** Resolves after the next read of the ledger, possibly by another process. */
  next(): Promise<void> {
    return this.#next.promise;
  }

  /** Reads the ledger for some counters in their current periods, unless that is already running. */
  read(counts: readonly SharedCount[]): void {
    if (counts.length > 0) void this.#read([...new Set(counts)].slice(0, MOST_COUNTERS));
  }

  async #read(counts: readonly SharedCount[]): Promise<void> {
    const { store, ledger, clock, elapsed, leaseMs, log, ask, restored } = this.#options;
    if (this.#isReading || elapsed() < this.#readAgainAt) return;
    this.#isReading = true;
    const asked = counts.map((count) => ({ counter: count.name, period: count.period, count }));
    try {
      const fences = await ask((caller) =>
        store.restoring(
          caller,
          asked.map(({ counter, period }) => ({ counter, period })),
        ),
      );
      const fenced = asked.flatMap((one, at) => {
        const fence = fences?.[at];
        return typeof fence === 'number' ? [{ ...one, fence }] : [];
      });
      // Another process restores them.
      if (fenced.length === 0) return void clock.after(RETRY_MS, () => this.#answer());
      const runningCost = fenced.map(({ count: { limit, endUser }, period }) => ({ limit, endUser, period }));
      const margin = leaseMs + CLOCKS_DIFFER_MS;
      const sums = await inTime(spentOf(runningCost, ledger, clock.wall(), margin), leaseMs, clock);
      const words = fenced.map(({ counter, period, fence }, at) => ({
        counter,
        period,
        fence,
        sums: sums[at] ?? [],
      }));
      await ask((caller) => store.restored(caller, words));
      restored(words.length);
      for (const { count } of fenced) {
        count.isUnreadable = false;
        count.isCompared = true;
      }
      this.#answer();
    } catch (error) {
      for (const count of counts) count.isUnreadable = true;
      this.#readAgainAt = elapsed() + leaseMs;
      log.warn('limit usage cannot be restored from the ledger', { error });
      this.#answer();
    } finally {
      this.#isReading = false;
    }
  }

  #answer(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }
}
