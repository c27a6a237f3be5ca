// Batches, as a port: many requests in one file, answered by one job. A batch is one row, and each line that has ended is another.
// Writes of a runner name the fence of its job. Knows no protocol.
import type { BatchStatus } from '../../canonical/index.ts';
import type { NewJob } from './jobs.ts';
import type { PageRequest } from './index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** How a batch ended. `failed`: none of its lines could be run. */
export type BatchOutcome = 'completed' | 'failed' | 'expired' | 'cancelled';

/** Most failed lines that a batch keeps for operators. Its error file has all of them. */
export const KEPT_FAILURES = 1_000;

/** How a line ended. */
export type LineKind = 'succeeded' | 'failed' | 'expired' | 'cancelled';

export interface NewBatch {
  /** The id of its job, too. Unique over all projects. */
  readonly id: string;
  readonly projectId: string;
  readonly keyId: string;
  /** Name of the protocol in which it was asked for. */
  readonly protocol: string;
  /** Id of the file with its lines. */
  readonly inputFile: string;
  /** Facts that only its protocol reads, as JSON. */
  readonly facts: string;
  /** By when it must have ended, in milliseconds from now. */
  readonly windowMs: DurationMs;
  /** Unix milliseconds, when it is forgotten; null: never. */
  readonly expiresAt: UnixMs | null;
}

/** Usage of lines. */
export interface LineSpend {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly usd: number;
  /** 1: its price is unknown, so that `usd` says too little. */
  readonly unpriced: number;
}

export interface Batch extends Omit<NewBatch, 'windowMs'> {
  /** Unix milliseconds by the database's clock, as all times here. */
  readonly createdAt: UnixMs;
  readonly deadlineAt: UnixMs;
  /** Lines; null until they were read. */
  readonly total: number | null;
  /** Lines that have ended, by how. */
  readonly counts: Readonly<Record<LineKind, number>>;
  readonly spend: LineSpend;
  /** Since when its lines run. */
  readonly beganAt: UnixMs | null;
  /** When somebody asked for its end. */
  readonly cancelAt: UnixMs | null;
  readonly finalizingAt: UnixMs | null;
  readonly endedAt: UnixMs | null;
  readonly outcome: BatchOutcome | null;
  readonly status: BatchStatus;
  readonly outputFile: string | null;
  readonly errorFile: string | null;
  /** Problems of its lines, as JSON; null: there are none. */
  readonly problems: string | null;
  /** Why it waits, and since when; null: it does not. */
  readonly waits: { readonly reason: string; readonly sinceMs: UnixMs } | null;
}

/** A line that has ended. */
export interface EndedLine {
  /** In the file, from 1. */
  readonly number: number;
  readonly kind: LineKind;
  /** Opaque here. */
  readonly result: Uint8Array;
  readonly spend: LineSpend | null;
  /** Reason of a line that failed, for operators. Null: it did not fail. */
  readonly failure: LineFailure | null;
}

/** Reason why a line failed. */
export interface LineFailure {
  /** `custom_id` of the line; null: it has none, or could not be read. */
  readonly name: string | null;
  /** Record of its last try; null: no upstream was asked. */
  readonly generation: string | null;
  /** HTTP status of its answer; null: it has no answer. */
  readonly status: number | null;
  readonly code: string;
  readonly message: string;
}

/** A line that failed, as it is listed. */
export interface FailedLine extends LineFailure {
  /** In the file, from 1. */
  readonly number: number;
}

/** Question of an operator for batches of all projects. */
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

/** A line whose upstream is asked, and has not answered yet. */
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
  /** Lines that have no result of their own: how many, and how they ended. */
  readonly rest: { readonly kind: LineKind; readonly lines: number };
}

export interface BatchStore {
  /** Durable with its job when it resolves. @throws GatewayError `rate_limited` as for jobs */
  add(
    batch: NewBatch,
    job: Omit<NewJob, 'id' | 'projectId' | 'keyId' | 'expiresAt'>,
    maxOpen: number,
  ): Promise<Batch>;
  /** Null: none of this project. */
  find(projectId: string, id: string): Promise<Batch | null>;
  /** A batch of whichever project; null where there is none. */
  get(id: string): Promise<Batch | null>;
  /** Batches of one protocol. @throws GatewayError `invalid_request` for an unknown `after` */
  list(
    projectId: string,
    protocol: string,
    page: PageRequest,
  ): Promise<{ readonly batches: readonly Batch[]; readonly hasMore: boolean }>;
  /** Batches of all projects, newest first. @throws GatewayError `invalid_request` for an unknown `after` */
  search(query: BatchQuery): Promise<{ readonly batches: readonly Batch[]; readonly hasMore: boolean }>;
  /** Number of batches of each status, over all projects. */
  counts(): Promise<readonly BatchCount[]>;
  /** Lines that failed, in the order of the file, behind one. A batch keeps the first `KEPT_FAILURES` that failed. */
  failures(id: string, after: number, limit: number): Promise<readonly FailedLine[]>;
  /** Whether a batch that has not ended reads the file. */
  reads(projectId: string, fileId: string): Promise<boolean>;
  /** Its lines are read, and begin to run. False: the fence is an older one. */
  begin(id: string, fence: number, total: number, problems: string | null): Promise<boolean>;
  /** Notes lines whose upstreams are about to be asked. False: the fence is an older one. */
  ask(id: string, fence: number, lines: readonly AskedLine[]): Promise<boolean>;
  /** Ends lines; one that has ended stays as it is. False: the fence is an older one. */
  endLines(id: string, fence: number, lines: readonly EndedLine[]): Promise<boolean>;
  /** Lines that were asked and have not ended. */
  asked(id: string): Promise<readonly AskedLine[]>;
  /** Numbers of lines that have ended, in their order, behind one. */
  endedNumbers(id: string, after: number, limit: number): Promise<readonly number[]>;
  /** Lines that have ended, in their order, behind one. */
  ended(id: string, after: number, limit: number): Promise<readonly Omit<EndedLine, 'spend' | 'failure'>[]>;
  /** All lines have ended or never will: its files are written. False: the fence is an older one. */
  finalize(id: string, fence: number): Promise<boolean>;
  /** Ends it, and forgets its lines. False: the fence is an older one. */
  end(id: string, fence: number, end: BatchEnd): Promise<boolean>;
  /** Asks for its end, and lets its runner end it at once. Null: none of this project. */
  cancel(projectId: string, id: string): Promise<Batch | null>;
  /** False: there is none of this project. */
  delete(projectId: string, id: string): Promise<boolean>;
  /** Deletes batches that have expired, and lines of those that have ended, a bounded number. Returns how many; 0 when none is left. */
  purge(nowMs: UnixMs): Promise<number>;
}
