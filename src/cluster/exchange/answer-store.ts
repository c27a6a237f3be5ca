// `AnswerStore`: port through which processes share answers under idempotency keys. Names and frames are opaque to the
// store, and answers expire unless they are renewed.
import type { DurationMs } from '../../base/units.ts';

/** Claim of a process on an answer. */
export interface AnswerClaim {
  readonly name: string;
  /** Hash of the request. */
  readonly fingerprint: string;
  /** Unique id of this attempt. */
  readonly run: string;
}

/**
 * `mine`: the caller got the claim. `theirs`: another process has or produces the answer. `conflict`: the name belongs to
 * another request. `large`: another process produces it, and it is too large to share.
 */
export type ClaimResult =
  | { readonly type: 'mine' | 'conflict' | 'large' }
  | { readonly type: 'theirs'; readonly run: string };

/** `running` and `large` expire after `LEASE_MS`, `complete` as requested. After `failed` the name is free immediately. */
export type AnswerState = 'running' | 'complete' | 'failed' | 'large';

/** Published frames and state of an answer. */
export interface AnswerUpdate extends AnswerClaim {
  /** Counts how often it was published from the first frame. */
  readonly edition: number;
  /** Number of frames published before. */
  readonly at: number;
  readonly frames: readonly string[];
  readonly state: AnswerState;
  /** Milliseconds for which a complete answer is kept. */
  readonly keepsMs: DurationMs;
  /** Maximum characters of all complete answers together. The oldest are evicted. */
  readonly mostChars: number;
}

/**
 * Response to published frames. `heard`: the answer has readers. `unheard`: it has none. `again`: earlier frames are lost,
 * so all must be published again. `lost`: the name now belongs to another run.
 */
export type AnswerReceipt = 'heard' | 'unheard' | 'again' | 'lost';

/** Read of an answer that another process produces. */
export interface AnswerRead {
  readonly name: string;
  readonly run: string;
  readonly edition: number;
  /** Index of the next frame to read. */
  readonly from: number;
}

/** Response to such a read. */
export interface AnswerFrames {
  /** `gone`: the run is unknown. */
  readonly state: AnswerState | 'gone';
  /** Edition of the frames. If it differs from the requested one, the frames begin with the first. */
  readonly edition: number;
  readonly frames: readonly string[];
  /** Total number of frames. */
  readonly count: number;
}

export interface Exchanged {
  readonly receipts: readonly AnswerReceipt[];
  readonly answers: readonly AnswerFrames[];
}

/** Milliseconds after which a running answer expires without a report of its process. */
export const LEASE_MS = 3000;
/** Milliseconds for which the frames of a failed answer can still be read. */
export const FAILED_MS = 10_000;
/** Milliseconds after its last read for which a reader counts as present. */
export const READER_MS = 3000;
/** Maximum number of frames per response. */
export const MOST_FRAMES = 32;

/** All calls reject if the store is unreachable. */
export interface AnswerStore {
  claim(claim: AnswerClaim): Promise<ClaimResult>;
  /** Publishes and reads in one call. @returns responses in the same order */
  exchange(updates: readonly AnswerUpdate[], reads: readonly AnswerRead[]): Promise<Exchanged>;
}
