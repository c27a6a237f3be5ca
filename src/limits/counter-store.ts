// How processes share limits: the port, which memory, a supervisor and a server of counters can stand behind. A process
// leases a ceiling, which is how much of a limit it may have used itself at any time; it counts under it alone and without
// asking. The ceilings of all never exceed the limit, so neither does what they use, whoever dies.

/** Names one process, as long as it lives. */
export type Holder = string;

/** What a process has of a limit, and wants of it. */
export interface Claim {
  /** Names the counter, the same in every process. */
  readonly counter: string;
  /** Where a calendar period began, in Unix milliseconds; 0 where there is none. */
  readonly period: number;
  /** What all processes together may use. */
  readonly limit: number;
  /** What this one uses, its reservations included. */
  readonly used: number;
  /** Part of `used` that is settled, and in the ledger. */
  readonly settled: number;
  /** How much more it cannot do without. */
  readonly need: number;
  /** How much more it would like, to ask less often; at least `need`. */
  readonly want: number;
  /** How long what a vanished process has used still counts: a rolling window, 0 for concurrent requests. Null: until the
   * ledger says what it was, and nothing is leased before the ledger has been asked. */
  readonly lingersMs: number | null;
  /** That of the lease it has; 0: none yet. */
  readonly fence: number;
}

export interface Lease {
  readonly counter: string;
  readonly period: number;
  /** What this process may use itself; never less than it said it did. */
  readonly ceiling: number;
  /** Greater than that of every lease and every `restoring` before. */
  readonly fence: number;
  /** Unix milliseconds after which nothing more may be used under it. */
  readonly expiresAtMs: number;
  /** What others use or may use. */
  readonly others: number;
  /** True: nobody has said what the ledger knows of the counter, and somebody must. */
  readonly needsLedger: boolean;
  /** True: the process was taken for dead, and what it had settled is counted from the ledger now. It counts its settled
   * sum from 0 on, and its reservations as before. */
  readonly wasTakenOver: boolean;
}

export interface CounterStore {
  /** Renews leases: all at once, in the order of the claims. What was said before is replaced, never added to. */
  claim(holder: Holder, claims: readonly Claim[], nowMs: number): Promise<readonly Lease[]>;
  /** Gives leases back for good: with what is used now, and nothing wanted. */
  leave(holder: Holder, claims: readonly Claim[], nowMs: number): Promise<void>;
  /**
   * Begins to set a counter from the ledger, which is asked after this and before `restored`.
   * @returns a fence; null while another process does it
   */
  restoring(counter: string, period: number, nowMs: number): Promise<number | null>;
  /**
   * Sets what was spent of a counter by everybody, settled, as the ledger has it.
   * @returns false where the fence is not that of the latest `restoring`, or is too old
   */
  restored(counter: string, period: number, fence: number, spent: number, nowMs: number): Promise<boolean>;
}
