// Restores counters from the ledger exactly once: all at the start, later those of new limits. Runs are sequential.
import type { LedgerSums } from './ledger-sums.ts';
import type { Limits } from './limits.ts';
import { questionNamesOf, restoreFromLedger } from './restore.ts';
import { type LimitEntry, ruleOf } from './rule.ts';
import type { Owner, Scope } from './scope.ts';
import { UnreadLimits } from './unread-limits.ts';
import type { UnixMs } from '../../base/units.ts';

interface RestoredOptions {
  readonly limits: Limits;
  readonly ledger: LedgerSums;
  /** The limiter's monotonic time. */
  readonly now: () => UnixMs;
  /** One pause of a request that waits for the ledger; it waits a few of them. Absent: it is refused immediately. */
  readonly pause?: (() => Promise<void>) | undefined;
}

export class RestoredLimits {
  readonly #options: RestoredOptions;
  /**
   * Restored limits by kind and id. A combined string per key would need most of the memory for 100,000 keys.
   */
  readonly #set: Readonly<Record<Owner['kind'], Map<string, readonly LimitEntry[]>>> = {
    gateway: new Map(),
    project: new Map(),
    key: new Map(),
    provider: new Map(),
  };
  #isStarted = false;
  /** Limits that are not read yet at the start. */
  #unread: UnreadLimits | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(options: RestoredOptions) {
    this.#options = options;
  }

  /**
   * Restores all configured limits that were not restored before. Rejects if the ledger cannot be read; the next call for
   * the same owners tries again.
   * @param changed owners to restore; absent: all
   */
  catchUp(changed?: readonly Owner[]): Promise<void> {
    const next = this.#running.then(() => this.#catchUp(this.#isStarted ? changed : undefined));
    this.#running = next.catch(() => {});
    return next;
  }

  /** At the start, requests wait until their limits are read from the ledger. Later, new limits do not delay requests. */
  #begun(scopes: readonly Scope[]): UnreadLimits | null {
    if (this.#isStarted) return null;
    const { limits, pause = () => Promise.resolve() } = this.#options;
    this.#unread ??= new UnreadLimits(pause);
    this.#unread.ask(questionNamesOf(scopes));
    limits.limiter.awaitLedger(this.#unread);
    return this.#unread;
  }

  async #catchUp(changed: readonly Owner[] | undefined): Promise<void> {
    const { limits, ledger, now } = this.#options;
    const all = limits.written(changed);
    const scopes = all.flatMap(({ owner, entries }): Scope[] => {
      const known = this.#set[owner.kind].get(owner.id) ?? [];
      if (known === entries) return [];
      const fresh = this.#isStarted ? newOf(entries, known) : entries;
      if (fresh.length === 0) return [];
      const scope = limits.limiter.scope(owner, fresh);
      // Requests may already use them, and their settled usage is in the ledger as well.
      if (this.#isStarted) scope.read();
      return [scope];
    });
    if (scopes.length > 0)
      await restoreFromLedger(limits.limiter, scopes, ledger, now(), this.#begun(scopes));
    this.#unread = null;
    limits.limiter.awaitLedger(null);
    if (!changed) for (const set of Object.values(this.#set)) set.clear();
    for (const { owner, entries } of all) {
      if (entries.length > 0) this.#set[owner.kind].set(owner.id, entries);
      else this.#set[owner.kind].delete(owner.id);
    }
    this.#isStarted = true;
  }
}

/** Entries that count something that no known entry counts. */
function newOf(entries: readonly LimitEntry[], known: readonly LimitEntry[]): readonly LimitEntry[] {
  const counted = new Set(known.map((entry) => ruleOf(entry).counts));
  return entries.filter((entry) => !counted.has(ruleOf(entry).counts));
}
