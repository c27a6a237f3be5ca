// Port of records of running requests, which survive a crash of the process.
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Usage of a running request so far. */
export interface RunningSpent {
  /** Number of requests that it counts as: one per started turn. */
  readonly requests: number;
  /** Whole nano-dollars. */
  readonly nanoUsd: number;
  readonly tokens: number;
  /** Time of this state. */
  readonly atMs: UnixMs;
}

/** Record of a request that was interrupted at its start. */
export interface RunningRecord {
  readonly generation: GenerationRecord;
  readonly attempt: AttemptRecord;
  /** Estimated tokens of the prompt. */
  readonly inputTokens: number;
}

/** A running request. */
export interface RunningEntry {
  /** Replaces the stored usage. It survives a crash when this returns. */
  note(spent: RunningSpent): void;
  /** Marks the request as sent to an upstream. Entries that were never sent are dropped after a crash. */
  sent(): void;
  /** Removes the entry, because its record is in the ledger. */
  close(): void;
}

/** Remembers across a crash whether a request was sent to an upstream. */
export interface SentMark {
  /** Id of the mark in the request's stored data. */
  readonly id: string;
  /** Marks the request as sent. */
  sent(): void;
  /** Releases the mark. */
  close(): void;
}

/**
 * `unknown`: the place of the mark was reused. `elsewhere`: the process ran with another data directory, or the file was
 * deleted.
 */
export type SentState = 'sent' | 'unsent' | 'unknown' | 'elsewhere';

export interface SentMarkStore {
  /** @returns null if no mark is available */
  open(): SentMark | null;
  /** State of the request of a mark. */
  stateOf(id: string): SentState;
}

/** A try of a killed process whose mark is in another data directory. */
export interface InterruptedTryRow {
  /** Id of its record. */
  readonly recordId: string;
  /** Opaque here. */
  readonly detail: string;
}

/** Tries that wait for a process with the data directory of their mark. */
export interface InterruptedTryStore {
  /** Adds a try. No effect if it is there. */
  add(row: InterruptedTryRow): Promise<void>;
  /** The oldest ones, with their ages by the database's clock. */
  list(limit: number): Promise<readonly (InterruptedTryRow & { readonly ageMs: DurationMs })[]>;
  delete(recordIds: readonly string[]): Promise<void>;
}

export interface RunningStore {
  /** @returns null if no entry is available; the request then runs without one */
  open(record: RunningRecord): RunningEntry | null;
  /**
   * Recovers the entries of crashed processes, each once unless this process crashes before `take` has resolved.
   * @param take makes an entry durable
   */
  recover(take: (record: RunningRecord, spent: RunningSpent) => Promise<void>): Promise<void>;
}
