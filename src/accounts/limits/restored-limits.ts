// Sets counters from the ledger where nobody has done so yet: all at the start, later those of limits that are new. One
// after the other, so that none is set twice.
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
  /** The limiter's time, which only goes forward. */
  readonly now: () => UnixMs;
  /** Time that a request waits at a time for what the ledger has not told; a few times. Absent: it is refused at once. */
  readonly pause?: (() => Promise<void>) | undefined;
}

export class RestoredLimits {
  readonly #options: RestoredOptions;
  /**
   * Restored limits, by kind and id: one text of both for each of 100,000 keys would weigh more than everything else.
   */
  readonly #set: Readonly<Record<Owner['kind'], Map<string, readonly LimitEntry[]>>> = {
    gateway: new Map(),
    project: new Map(),
    key: new Map(),
    provider: new Map(),
  };
  #isStarted = false;
  /** Limits that are unread at the start. */
  #unread: UnreadLimits | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(options: RestoredOptions) {
    this.#options = options;
  }

  /**
   * Sets what is written now and was not set before. Rejects where the ledger cannot be read: the next call for the same
   * owners tries again.
   * @param changed for whom alone
   */
  catchUp(changed?: readonly Owner[]): Promise<void> {
    const next = this.#running.then(() => this.#catchUp(this.#isStarted ? changed : undefined));
    this.#running = next.catch(() => {});
    return next;
  }

  /** At the start nobody begins under a limit before the ledger was asked for it; later, limits that are new wait for nobody. */
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
      // Requests may count for them already: what these have settled is in the ledger as well.
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

/** Entries that count what none of the known ones does. */
function newOf(entries: readonly LimitEntry[], known: readonly LimitEntry[]): readonly LimitEntry[] {
  const counted = new Set(known.map((entry) => ruleOf(entry).counts));
  return entries.filter((entry) => !counted.has(ruleOf(entry).counts));
}
