// Sets counters from the ledger where nobody has done so yet: all at the start, later those of limits that are new. One
// after the other, so that none is set twice.
import type { LedgerSums } from './ledger-sums.ts';
import type { Limits } from './limits.ts';
import { restoreFromLedger } from './restore.ts';
import { type LimitEntry, ruleOf } from './rule.ts';
import { ownerWord, type Scope } from './scope.ts';

interface RestoredOptions {
  readonly limits: Limits;
  readonly ledger: LedgerSums;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export class RestoredLimits {
  readonly #options: RestoredOptions;
  /** What was set, by owner. */
  #set = new Map<string, readonly LimitEntry[]>();
  #isStarted = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: RestoredOptions) {
    this.#options = options;
  }

  /** Sets what is written now and was not set before. Rejects where the ledger cannot be read: the next call tries again. */
  catchUp(): Promise<void> {
    const next = this.#running.then(() => this.#catchUp());
    this.#running = next.catch(() => {});
    return next;
  }

  async #catchUp(): Promise<void> {
    const { limits, ledger, now } = this.#options;
    const all = limits.written();
    const scopes = all.flatMap(({ owner, entries }): Scope[] => {
      const known = this.#set.get(ownerWord(owner)) ?? [];
      if (known === entries) return [];
      const fresh = this.#isStarted ? newOf(entries, known) : entries;
      if (fresh.length === 0) return [];
      const scope = limits.limiter.scope(owner, fresh);
      // Requests may count for them already: what these have settled is in the ledger as well.
      if (this.#isStarted) scope.read();
      return [scope];
    });
    if (scopes.length > 0) await restoreFromLedger(limits.limiter, scopes, ledger, now());
    this.#set = new Map(all.map(({ owner, entries }) => [ownerWord(owner), entries]));
    this.#isStarted = true;
  }
}

/** Entries that count what none of the known ones does. */
function newOf(entries: readonly LimitEntry[], known: readonly LimitEntry[]): readonly LimitEntry[] {
  const counted = new Set(known.map((entry) => ruleOf(entry).counts));
  return entries.filter((entry) => !counted.has(ruleOf(entry).counts));
}
