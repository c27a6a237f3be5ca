// Port of batches: many requests in one file, run by one job. A batch is one row, and each ended line another. Writes
// of a runner name the fence of its job.
import type { BatchStatus } from '../../canonical/index.ts';
import type { NewJob } from './jobs.ts';
import type { PageRequest } from './index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Outcome of a batch. `failed`: none of its lines could be run. */
export type BatchOutcome = 'completed' | 'failed' | 'expired' | 'cancelled';

/** Maximum failed lines per batch that are stored for operators. Its error file has all of them. */
export const KEPT_FAILURES = 1_000;

/** Outcome of a line. */
export type LineKind = 'succeeded' | 'failed' | 'expired' | 'cancelled';

export interface NewBatch {
  /** Also the id of its job. Unique across projects. */
  readonly id: string;
  readonly projectId: string;
  readonly keyId: string;
  /** Protocol in which it was created. */
  readonly protocol: string;
  /** Id of the input file. */
  readonly inputFile: string;
  /** Data that only its protocol reads, as JSON. */
  readonly facts: string;
  /** Milliseconds from now within which it must end. */
  readonly windowMs: DurationMs;
  /** Unix milliseconds at which it is deleted; null: never. */
  readonly expiresAt: UnixMs | null;
}

/** Usage of lines. */
export interface LineSpend {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly usd: number;
  /** 1: the price is unknown, so `usd` is too low. */
  readonly unpriced: number;
}

export interface Batch extends Omit<NewBatch, 'windowMs'> {
  /** Unix milliseconds by the database's clock, like all times here. */
  readonly createdAt: UnixMs;
  readonly deadlineAt: UnixMs;
  /** Number of lines; null until they were read. */
  readonly total: number | null;
  /** Number of ended lines by outcome. */
  readonly counts: Readonly<Record<LineKind, number>>;
  readonly spend: LineSpend;
  /** Time at which its lines began to run. */
  readonly beganAt: UnixMs | null;
  /** Time at which its cancellation was requested. */
  readonly cancelAt: UnixMs | null;
  readonly finalizingAt: UnixMs | null;
  readonly endedAt: UnixMs | null;
  readonly outcome: BatchOutcome | null;
  readonly status: BatchStatus;
  readonly outputFile: string | null;
  readonly errorFile: string | null;
  /** Invalid lines, as JSON; null: none. */
  readonly problems: string | null;
  /** Why and since when it waits; null: it does not wait. */
  readonly waits: { readonly reason: string; readonly sinceMs: UnixMs } | null;
}

/** An ended line. */
export interface EndedLine {
  /** Position in the file, from 1. */
  readonly number: number;
  readonly kind: LineKind;
  /** Opaque here. */
  readonly result: Uint8Array;
  readonly spend: LineSpend | null;
  /** Reason of a failure, for operators. Null: it did not fail. */
  readonly failure: LineFailure | null;
}

/** Reason why a line failed. */
export interface LineFailure {
  /** `custom_id` of the line; null: missing or unreadable. */
  readonly name: string | null;
  /** Record of the last attempt; null: no upstream was called. */
  readonly generation: string | null;
  /** HTTP status of its response; null: none. */
  readonly status: number | null;
  readonly code: string;
  readonly message: string;
}

/** A failed line in a list. */
export interface FailedLine extends LineFailure {
  /** Position in the file, from 1. */
  readonly number: number;
}

/** Filter for batches of all projects. */
export interface BatchQuery {
  readonly project?: string | undefined;
  readonly protocol?: string | undefined;
  readonly statuses?: readonly BatchStatus[] | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Number of batches of one status. */
export interface BatchCount {
  readonly status: BatchStatus;
  readonly batches: number;
}

/** A line that was sent to an upstream and has no response yet. */
export interface AskedLine {
  readonly number: number;
  /** Opaque here. */
  readonly detail: string;
}

export interface BatchEnd {
  readonly outcome: BatchOutcome;
  readonly outputFile: string | null;
  readonly errorFile: string | null;
  readonly problems: string | null;
  /** Lines without a result of their own: their number and outcome. */
  readonly rest: { readonly kind: LineKind; readonly lines: number };
}

export interface BatchStore {
  /**
   * Adds a batch with its job, durable when it resolves. @throws GatewayError `rate_limited` as for jobs, `not_found` when
   * the input file was deleted
   */
  add(
    batch: NewBatch,
    job: Omit<NewJob, 'id' | 'projectId' | 'keyId' | 'expiresAt'>,
    maxOpen: number,
  ): Promise<Batch>;
  /** Null if the project has no such batch. */
  find(projectId: string, id: string): Promise<Batch | null>;
  /** A batch of any project; null if it does not exist. */
  get(id: string): Promise<Batch | null>;
  /** Batches of one protocol. @throws GatewayError `invalid_request` for an unknown `after` */
  list(
    projectId: string,
    protocol: string,
    page: PageRequest,
  ): Promise<{ readonly batches: readonly Batch[]; readonly hasMore: boolean }>;
  /** Batches of all projects, newest first. @throws GatewayError `invalid_request` for an unknown `after` */
  search(query: BatchQuery): Promise<{ readonly batches: readonly Batch[]; readonly hasMore: boolean }>;
  /** Number of batches by status, across projects. */
  counts(): Promise<readonly BatchCount[]>;
  /** Failed lines after a position, in file order. Only the first `KEPT_FAILURES` failures of a batch are stored. */
  failures(id: string, after: number, limit: number): Promise<readonly FailedLine[]>;
  /** Starts a batch whose lines were read. @returns false if the fence is outdated */
  begin(id: string, fence: number, total: number, problems: string | null): Promise<boolean>;
  /** Stores lines before they are sent to an upstream. @returns false if the fence is outdated */
  ask(id: string, fence: number, lines: readonly AskedLine[]): Promise<boolean>;
  /** Ends lines. Lines that have ended are unchanged. @returns false if the fence is outdated */
  endLines(id: string, fence: number, lines: readonly EndedLine[]): Promise<boolean>;
  /** Lines that were sent to an upstream and have not ended. */
  asked(id: string): Promise<readonly AskedLine[]>;
  /** Positions of ended lines after a position, in order. */
  endedNumbers(id: string, after: number, limit: number): Promise<readonly number[]>;
  /** Ended lines after a position, in order. */
  ended(id: string, after: number, limit: number): Promise<readonly Omit<EndedLine, 'spend' | 'failure'>[]>;
  /**
   * Marks a batch whose lines are done and whose output files are being written. @returns false if the fence is
   * outdated
   */
  finalize(id: string, fence: number): Promise<boolean>;
  /** Ends a batch and deletes its lines. @returns false if the fence is outdated */
  end(id: string, fence: number, end: BatchEnd): Promise<boolean>;
  /** Requests the cancellation of a batch and wakes its job. @returns null if the project has no such batch */
  cancel(projectId: string, id: string): Promise<Batch | null>;
  /** @returns false if the project has no such batch */
  delete(projectId: string, id: string): Promise<boolean>;
  /** Deletes a bounded number of expired batches and of lines of ended ones. @returns how many; 0: none are left */
  purge(nowMs: UnixMs): Promise<number>;
}
