// Port of counters shared between processes. Implemented in memory, by the supervisor and by Redis. A process reports its
// usage as absolute sums, so that lost or repeated messages do not distort the counters.
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Milliseconds without a call after which a process counts as dead. */
export const LEASE_MS = 3000;

/** Name of a process. Ends when the process is silent for `LEASE_MS`. */
export type Holder = string;

/** The process that calls a store. */
export interface Caller {
  readonly holder: Holder;
  /** Increases with every call. A call that arrives after a later one is ignored. */
  readonly turn: number;
  /** Store time of the last response that the process received. 0: none yet. */
  readonly lastReplyAtMs: UnixMs;
  /** Unix milliseconds, by the caller's own clock. */
  readonly nowMs: UnixMs;
}

/** One counter in one period. */
export interface CounterPeriod {
  /** Name of the counter, the same in all processes. */
  readonly counter: string;
  /** Start of the calendar period in Unix milliseconds; 0: not a calendar window. */
  readonly period: number;
}

/** Retention of the amounts of a counter. */
export interface Keeping {
  /** Milliseconds of a rolling window; 0: while a request runs; `null`: for the calendar period. */
  readonly windowMs: DurationMs | null;
  /** True: settled amounts are in the ledger, from which the store can be restored. */
  readonly isInLedger: boolean;
}

/** Usage of one process in one period, or in one step of a rolling window. */
export interface Cell extends CounterPeriod, Keeping {
  /** Name of the cell: holder, colon, number. */
  readonly cell: string;
  /** Usage of the process, reservations included. */
  readonly used: number;
  /** Part of `used` that is in the ledger. */
  readonly settled: number;
  /** True while a request of this cell is running. */
  readonly isOpen: boolean;
  /** Milliseconds since the latest unit was counted. */
  readonly ageMs: DurationMs;
}

/** Amount that a request wants to reserve in a cell of the same call. */
export interface Wanted {
  /** Index of the cell. */
  readonly at: number;
  readonly limit: number;
  /** Amount that must be available. */
  readonly need: number;
  readonly want: number;
  /** True: reserves at most the available amount. False: reserves `want` in any case. */
  readonly clips: boolean;
}

export interface Answered {
  /** Store time. */
  readonly atMs: UnixMs;
  /**
   * True: the process was silent for too long, and the call was ignored. Its settled usage is taken from the ledger. It must
   * continue under another name.
   */
  readonly isAway: boolean;
  /** Generation of the store's data. Changes when the data is lost. */
  readonly epoch: number;
  /** Number of live processes, including this one. */
  readonly processes: number;
  /** Milliseconds until all processes have reported to a store that lost its data. It grants nothing before. */
  readonly settlesInMs: DurationMs;
  /** States of the counters of the cells, in order. */
  readonly states: readonly CounterState[];
  /** Granted amounts per request. A number: nothing was granted, because of the wanted amount with this index. */
  readonly granted: readonly (readonly number[] | number)[];
}

export interface CounterState {
  /** Usage of all processes. */
  readonly total: number;
  /** True: the counter has to be restored from the ledger, because it is unknown or a process died. */
  readonly needsLedger: boolean;
  /** True: nothing is granted before the counter is restored from the ledger. */
  readonly isUnknown: boolean;
}

/** Ledger sums of a counter, read under a fence. */
export interface LedgerWord extends CounterPeriod {
  readonly fence: number;
  /** Settled usage of all processes, latest first. */
  readonly sums: readonly LedgerPart[];
}

export interface LedgerPart {
  readonly amount: number;
  /** Milliseconds since it was counted. 0: not a rolling window. */
  readonly ageMs: DurationMs;
}

export interface CounterStore {
  /** Stores the cells, then reserves for each request all wanted amounts or none. Without both: a heartbeat. */
  take(caller: Caller, cells: readonly Cell[], requests: readonly (readonly Wanted[])[]): Promise<Answered>;
  /**
   * Begins to restore counters from the ledger. Read the ledger after this and before `restored`.
   * @returns a fence per counter; `null` while another process restores it
   */
  restoring(caller: Caller, counters: readonly CounterPeriod[]): Promise<readonly (number | null)[]>;
  /**
   * Sets the settled usage of counters to that of the ledger.
   * @returns false for each counter whose fence is not that of the latest `restoring`, or too old
   */
  restored(caller: Caller, words: readonly LedgerWord[]): Promise<readonly boolean[]>;
}
