// Batches of a protocol's clients: decoding of request lines, the batch object, and result lines.
import type { JsonObject } from '../../base/json/index.ts';
import type { BatchStatus } from '../../canonical/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** A problem of one line, or of the whole batch. */
export interface BatchProblem {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** Line in the file, from 1; null: the whole batch. */
  readonly line: number | null;
}

/** Current state of a batch. Times are Unix milliseconds. */
export interface ShownBatch {
  readonly id: string;
  /** Protocol-specific data. */
  readonly facts: JsonObject;
  readonly status: BatchStatus;
  readonly inputFile: string;
  readonly outputFile: string | null;
  readonly errorFile: string | null;
  /** Null until the lines were read. */
  readonly total: number | null;
  readonly counts: Readonly<Record<'succeeded' | 'failed' | 'expired' | 'cancelled', number>>;
  readonly tokens: Readonly<Record<'input' | 'cached' | 'output' | 'reasoning', number>>;
  /** Null: some prices are unknown. */
  readonly costUsd: number | null;
  readonly problems: readonly BatchProblem[];
  /** Reason why it waits, and since when; null: it does not wait. */
  readonly waits: { readonly reason: string; readonly sinceMs: UnixMs } | null;
  readonly createdAt: UnixMs;
  readonly deadlineAt: UnixMs;
  readonly beganAt: UnixMs | null;
  readonly cancelAt: UnixMs | null;
  readonly finalizingAt: UnixMs | null;
  readonly endedAt: UnixMs | null;
}

/** One line, as the runner needs it. */
export interface BatchLine {
  /** Unique in its batch; null: none. */
  readonly id: string | null;
  /** Path to which the request would be sent outside a batch. */
  readonly path: string;
  /** Name of the member with the request's body. */
  readonly body: string;
}

/** End of a line without an answer. `refused`: it was never sent. */
export type UnansweredEnd =
  | {
      readonly type: 'refused';
      readonly code: string;
      readonly message: string;
      readonly param: string | null;
    }
  | { readonly type: 'expired' }
  | { readonly type: 'cancelled' };

/** End of a line. */
export type LineEnd =
  | {
      readonly type: 'answered';
      readonly status: number;
      readonly requestId: string;
      /** JSON on one line. */
      readonly body: string;
    }
  | UnansweredEnd;

/** Ids that requests must have when their batch is created. */
export interface RequiredIds {
  /** Member of a request that holds its id, which is unique in the batch. */
  readonly member: string;
  readonly pattern: RegExp;
  /** The pattern in words, for error messages. */
  readonly rule: string;
}

export interface BatchCodec {
  /** Prefix of batch ids. */
  readonly idPrefix: string;
  /** Configured limit that counts its lines. */
  readonly counts: 'lines' | 'requests';
  /** True: results of failed lines are in a separate file. */
  readonly splitsErrors: boolean;
  /** Members of a line by which clients recognise its result, which repeats them. */
  readonly names: readonly string[];
  /** Absent: requests in the body may have no ids, or ids are checked with the other members. */
  readonly requiredIds?: RequiredIds;
  /** Decodes a line. @throws GatewayError `invalid_request` naming the member */
  line(line: JsonObject, facts: JsonObject): BatchLine;
  /** @param isoOf formats Unix milliseconds in RFC 3339 */
  encode(batch: ShownBatch, isoOf: (ms: UnixMs) => string): JsonObject;
  /**
   * Encodes a line of results, without a line end.
   * @param line the client's line, or only its `names`; null if it cannot be read
   * @param number of the line in its file, which names a line without an id
   */
  encodeResult(line: JsonObject | null, number: number, batchId: string, end: LineEnd): string;
}
