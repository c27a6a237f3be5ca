// How processes share limits: the port, which memory, a supervisor and a server of counters can stand behind. A process
// leases a ceiling, which is how much of a limit it may have used itself at any time; it counts under it alone and without
// asking. The ceilings of all never exceed the limit, so neither does what they use, whoever dies.

/** How long a lease holds that is not renewed, in milliseconds: so long a vanished process keeps what it had. */
export const LEASE_MS = 3000;

/** Names one process, as long as it lives. */
export type Holder = string;

/** Who calls a store. */
export interface Caller {
  readonly holder: Holder;
  /** Grows with every call. One that comes late, behind a later one, changes nothing any more. */
  readonly turn: number;
  /** Unix milliseconds, by the caller's own clock. */
  readonly nowMs: number;
}

/** One counter in one period. */
export interface CounterPeriod {
  /** Names the counter, the same in every process. */
  readonly counter: string;
  /** Where a calendar period began, in Unix milliseconds; 0 where there is none. */
  readonly period: number;
}

/**
 * Whether the ledger knows what was used: then nothing is leased before it has been asked, and it is asked again when
 * somebody has vanished.
 */
export function isInLedger({ lingersMs, reviewMs }: Pick<Claim, 'lingersMs' | 'reviewMs'>): boolean {
  return lingersMs === null || reviewMs !== null;
}

/** What a process has of a limit, and wants of it. */
export interface Claim extends CounterPeriod {
  /** What all processes together may use. */
  readonly limit: number;
  /** What this one uses, its reservations included, and may go on to use until it has an answer. */
  readonly used: number;
  /** Part of `used` that is settled, and in the ledger. */
  readonly settled: number;
  /** How much more it cannot do without. */
  readonly need: number;
  /** How much more it would like, to ask less often; at least `need`. */
  readonly want: number;
  /** How long what a vanished process has used still counts at most: a rolling window, 0 for concurrent requests. Null:
   * until the ledger says what it was. */
  readonly lingersMs: number | null;
  /** How long the ledger's word holds where it is that of a rolling window; null: as long as nobody vanishes. */
  readonly reviewMs: number | null;
  /** That of the lease it has; 0: none yet. */
  readonly fence: number;
}

export interface Lease extends CounterPeriod {
  /** What this process may use itself; never less than it said it did. */
  readonly ceiling: number;
  /** Greater than that of every lease and every `restoring` before, also of those before the store lost its data. */
  readonly fence: number;
  /** Unix milliseconds, by the caller's clock, after which nothing more may be used under it. */
  readonly expiresAtMs: number;
  /** What others use or may use. */
  readonly others: number;
  /** What each would have if all had the same, where somebody could not get what it needs; the limit where all could. */
  readonly fairShare: number;
  /** True: somebody must say what the ledger knows of the counter. */
  readonly needsLedger: boolean;
  /** True: the process was taken for dead, and what it had settled is counted from the ledger now. It counts its settled
   * sum from 0 on, and its reservations as before. */
  readonly wasTakenOver: boolean;
}

export interface Claimed {
  /** In the order of the claims. */
  readonly leases: readonly Lease[];
  /** How many processes have called lately, this one included. */
  readonly processes: number;
  /** Milliseconds until leases are certainly over that were given before the store lost its data; nothing more is leased
   * before. 0, as nearly always: it has lost nothing. */
  readonly settlesInMs: number;
}

/** What the ledger has of a counter, as it was asked for under a fence. */
export interface LedgerWord extends CounterPeriod {
  readonly fence: number;
  /** What was spent by everybody, settled. */
  readonly spent: number;
}

export interface CounterStore {
  /** Renews leases, all at once. What was said before is replaced, never added to. Without claims it says: still here. */
  claim(caller: Caller, claims: readonly Claim[]): Promise<Claimed>;
  /** Gives leases back for good: with what is used now, and nothing wanted. */
  leave(caller: Caller, claims: readonly Claim[]): Promise<void>;
  /**
   * Begins to set counters from the ledger, which is asked after this and before `restored`.
   * @returns a fence for each; null while another process does it
   */
  restoring(caller: Caller, counters: readonly CounterPeriod[]): Promise<readonly (number | null)[]>;
  /**
   * Sets what was spent of counters by everybody, as the ledger has it.
   * @returns false for each whose fence is not that of the latest `restoring`, or is too old
   */
  restored(caller: Caller, words: readonly LedgerWord[]): Promise<readonly boolean[]>;
}
