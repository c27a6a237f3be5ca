// Records of running requests, for the case that the process dies with them.
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** Spend of a running request so far. */
export interface RunningSpent {
  /** Number of requests that it counts for: one for each turn that has begun. */
  readonly requests: number;
  /** Whole nano-dollars. */
  readonly nanoUsd: number;
  readonly tokens: number;
  /** Time when that was so. */
  readonly atMs: UnixMs;
}

/** The record of a request as if it had been interrupted when it began. */
export interface RunningRecord {
  readonly generation: GenerationRecord;
  readonly attempt: AttemptRecord;
  /** Tokens of the prompt, by estimate. */
  readonly inputTokens: number;
}

/** A request that runs. */
export interface RunningEntry {
  /** Replaces what was noted before. Survives the death of the process when it returns. */
  note(spent: RunningSpent): void;
  /** An upstream is sent the request now. Of an entry that was never sent, nothing is left behind. */
  sent(): void;
  /** Its record is in the ledger. */
  close(): void;
}

/** Says of one request whether it went out, after the death of its process as well. */
export interface SentMark {
  /** Names it in what is noted of the request. */
  readonly id: string;
  /** The request goes out now. */
  sent(): void;
  /** Nobody will ask for it. */
  close(): void;
}

export interface SentMarkStore {
  /** @returns null where there is no room for one */
  open(): SentMark | null;
  /** Whether the request of a mark went out. Null: nobody here knows. */
  wasSent(id: string): boolean | null;
}

export interface RunningStore {
  /** @returns null where there is no room for it: then it runs without */
  open(record: RunningRecord): RunningEntry | null;
  /**
   * Gives what killed processes have left behind, each once, unless the process dies before `take` has taken all of it.
   * @param take makes it durable
   */
  recover(take: (record: RunningRecord, spent: RunningSpent) => Promise<void>): Promise<void>;
}
