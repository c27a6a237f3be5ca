// Port of records of running requests, which survive a crash of the process.
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';
import type { UnixMs } from '../../base/units.ts';

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

export interface SentMarkStore {
  /** @returns null if no mark is available */
  open(): SentMark | null;
  /** True if the request of a mark was sent. Null: unknown. */
  wasSent(id: string): boolean | null;
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
