// Port of counters that several processes share: memory, a supervisor and a server of counters stand behind it. A process says
// how much it uses, as sums that replace what it said before: a message that is lost or comes twice counts nothing twice.
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Silence after which a process counts as gone, in milliseconds. */
export const LEASE_MS = 3000;

/** Names one process, as long as the store hears it often enough. */
export type Holder = string;

/** The process that calls a store. */
export interface Caller {
  readonly holder: Holder;
  /** Grows with every call. A call that comes behind a later one changes nothing. */
  readonly turn: number;
  /** Time of the store in the answer that the process got last. 0: none yet. */
  readonly lastReplyAtMs: UnixMs;
  /** Unix milliseconds, by the caller's own clock. */
  readonly nowMs: UnixMs;
}

/** One counter in one period. */
export interface CounterPeriod {
  /** Names the counter, the same in every process. */
  readonly counter: string;
  /** Begin of the calendar period in Unix milliseconds; 0: the window is none of the calendar. */
  readonly period: number;
}

/** How long amounts count, and who else knows them. */
export interface Keeping {
  /** Milliseconds of a rolling window; 0: as long as a request runs. `null`: as long as the period. */
  readonly windowMs: DurationMs | null;
  /** True: the ledger knows what was settled, so it is asked where the store does not know. */
  readonly isInLedger: boolean;
}

/** Usage of one process in one period, or in one step of a rolling window. */
export interface Cell extends CounterPeriod, Keeping {
  /** Names the cell: the holder, a colon, a number. */
  readonly cell: string;
  /** All that the process counts here, reservations included. */
  readonly used: number;
  /** Part of `used` that the ledger has. */
  readonly settled: number;
  /** True while a request runs that is counted here. */
  readonly isOpen: boolean;
  /** Milliseconds since the latest unit was counted. */
  readonly ageMs: DurationMs;
}

/** Amount that a request wants to reserve in one cell of the same call. */
export interface Wanted {
  /** Index of the cell. */
  readonly at: number;
  readonly limit: number;
  /** Amount that must be free. */
  readonly need: number;
  readonly want: number;
  /** True: no more than what is free is reserved. False: `want`, however much that is. */
  readonly clips: boolean;
}

export interface Answered {
  /** Time of the store. */
  readonly atMs: UnixMs;
  /**
   * True: the process was silent for too long, and nothing of the call was taken. What it had settled is left to the ledger. It
   * goes on under another name.
   */
  readonly isAway: boolean;
  /** Names the data of the store: another one after it was lost. */
  readonly epoch: number;
  /** Processes that have called lately, this one included. */
  readonly processes: number;
  /** Milliseconds until everybody has reported again to a store that has lost its data. Nothing is granted before. */
  readonly settlesInMs: DurationMs;
  /** State of the counter of each cell, in their order. */
  readonly states: readonly CounterState[];
  /** For each request the granted amounts. A number: nothing, because of the wanted amount with this index. */
  readonly granted: readonly (readonly number[] | number)[];
}

export interface CounterState {
  /** Usage of all processes. */
  readonly total: number;
  /** True: nothing is granted before the ledger was asked, or a process vanished. */
  readonly needsLedger: boolean;
  /** True: the ledger has to be asked before anything is granted. */
  readonly isUnknown: boolean;
}

/** Sums of a counter in the ledger, as they were asked for under a fence. */
export interface LedgerWord extends CounterPeriod {
  readonly fence: number;
  /** Settled usage of all processes, the latest first. */
  readonly sums: readonly LedgerPart[];
}

export interface LedgerPart {
  readonly amount: number;
  /** Milliseconds since it was counted. 0 where the window does not roll. */
  readonly ageMs: DurationMs;
}

export interface CounterStore {
  /** Takes cells, and then reserves for each request everything that it wants, or nothing. Without both: still here. */
  take(caller: Caller, cells: readonly Cell[], requests: readonly (readonly Wanted[])[]): Promise<Answered>;
  /**
   * Begins to set counters from the ledger, which is asked after this and before `restored`.
   * @returns a fence for each; `null` while another process does it
   */
  restoring(caller: Caller, counters: readonly CounterPeriod[]): Promise<readonly (number | null)[]>;
  /**
   * Sets what was spent of counters by everybody, as the ledger has it.
   * @returns false for each whose fence is not that of the latest `restoring`, or is too old
   */
  restored(caller: Caller, words: readonly LedgerWord[]): Promise<readonly boolean[]>;
}
