// Batches as clients of a protocol have them: what one line of a batch asks for, how the batch is shown, and what a line of its
// results says.
import type { JsonObject } from '../../base/json/index.ts';
import type { BatchStatus } from '../../canonical/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** A problem of a line, or of the whole. */
export interface BatchProblem {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** In the file, from 1; null: the whole. */
  readonly line: number | null;
}

/** A batch as it stands. Times are Unix milliseconds. */
export interface ShownBatch {
  readonly id: string;
  /** Facts that only its protocol reads. */
  readonly facts: JsonObject;
  readonly status: BatchStatus;
  readonly inputFile: string;
  readonly outputFile: string | null;
  readonly errorFile: string | null;
  /** Null until its lines were read. */
  readonly total: number | null;
  readonly counts: Readonly<Record<'succeeded' | 'failed' | 'expired' | 'cancelled', number>>;
  readonly tokens: Readonly<Record<'input' | 'cached' | 'output' | 'reasoning', number>>;
  /** Null: the price of some of it is unknown. */
  readonly costUsd: number | null;
  readonly problems: readonly BatchProblem[];
  /** Why it waits, and since when; null: it does not. */
  readonly waits: { readonly reason: string; readonly sinceMs: UnixMs } | null;
  readonly createdAt: UnixMs;
  readonly deadlineAt: UnixMs;
  readonly beganAt: UnixMs | null;
  readonly cancelAt: UnixMs | null;
  readonly finalizingAt: UnixMs | null;
  readonly endedAt: UnixMs | null;
}

/** One line, as far as the runner has to know it. */
export interface BatchLine {
  /** Unique in its batch; null: it has none. */
  readonly id: string | null;
  /** Address to which a client would send the request by itself. */
  readonly path: string;
  /** Name of the member that holds the request's body. */
  readonly body: string;
}

/** How a line ended that was not answered. `refused`: it was not even asked. */
export type UnansweredEnd =
  | {
      readonly type: 'refused';
      readonly code: string;
      readonly message: string;
      readonly param: string | null;
    }
  | { readonly type: 'expired' }
  | { readonly type: 'cancelled' };

/** How a line ended. */
export type LineEnd =
  | {
      readonly type: 'answered';
      readonly status: number;
      readonly requestId: string;
      /** JSON on one line. */
      readonly body: string;
    }
  | UnansweredEnd;

export interface BatchCodec {
  /** Before the ids of its batches. */
  readonly idPrefix: string;
  /** Which of the configured limits counts its lines. */
  readonly counts: 'lines' | 'requests';
  /** True: results of lines that failed are a file of their own. */
  readonly splitsErrors: boolean;
  /** Reads a line. @throws GatewayError `invalid_request` naming the member */
  line(line: JsonObject, facts: JsonObject): BatchLine;
  /** @param isoOf writes Unix milliseconds in RFC 3339 */
  encode(batch: ShownBatch, isoOf: (ms: UnixMs) => string): JsonObject;
  /**
   * A line of results, without the line's end.
   * @param line as the client sent it; null where it could not be read
   * @param number of the line in its file
   */
  encodeResult(line: JsonObject | null, number: number, batchId: string, end: LineEnd): string;
}
