// `AnswerStore`: the port through which processes find each other's answers under idempotency keys. A store knows no request
// and no client: names and frames are opaque to it, and it forgets answers that nobody renews.
import type { DurationMs } from '../../base/units.ts';

/** An answer that somebody is about to make. */
export interface AnswerClaim {
  readonly name: string;
  /** Hash of the request. */
  readonly fingerprint: string;
  /** Names this attempt to answer, unlike all others. */
  readonly run: string;
}

/**
 * `mine`: nobody else makes it, or has made it. `theirs`: it is there, or comes. `conflict`: the name stands for another request.
 * `large`: somebody makes it, and nobody else can have it.
 */
export type AnswerStanding =
  | { readonly type: 'mine' | 'conflict' | 'large' }
  | { readonly type: 'theirs'; readonly run: string };

/** `running` and `large` hold for `LEASE_MS`; `complete` as long as is said; after `failed` the name is free at once. */
export type AnswerState = 'running' | 'complete' | 'failed' | 'large';

/** Frames and state of an answer, from the process that makes it. */
export interface Said extends AnswerClaim {
  /** Counts how often it was published from the first frame. */
  readonly edition: number;
  /** How many frames were published before. */
  readonly at: number;
  readonly frames: readonly string[];
  readonly state: AnswerState;
  /** How long a complete answer is kept. */
  readonly keepsMs: DurationMs;
  /** Most characters of frames that all complete answers together may have: the earliest go first. */
  readonly mostChars: number;
}

/**
 * Reply to published frames. `heard`: somebody reads the answer. `unheard`: nobody does. `again`: earlier frames are lost, and all
 * are to be published anew. `lost`: the name stands for another run by now.
 */
export type AnswerReceipt = 'heard' | 'unheard' | 'again' | 'lost';

/** Question about an answer that another process makes. */
export interface Asked {
  readonly name: string;
  readonly run: string;
  readonly edition: number;
  /** The first frame that it has not got. */
  readonly from: number;
}

/** Reply to such a question. */
export interface AnswerFrames {
  /** `gone`: the store knows nothing of that run. */
  readonly state: AnswerState | 'gone';
  /** Number of the telling. Where it is not the one that was asked for, the frames begin with the first. */
  readonly edition: number;
  readonly frames: readonly string[];
  /** How many frames there are in all. */
  readonly count: number;
}

export interface Exchanged {
  readonly receipts: readonly AnswerReceipt[];
  readonly answers: readonly AnswerFrames[];
}

/** How long an answer that is being made is known without a word from whoever makes it, in milliseconds. */
export const LEASE_MS = 3000;
/** How long the frames of a failed answer can still be read, in milliseconds. */
export const FAILED_MS = 10_000;
/** How long whoever asked for an answer counts as reading it, in milliseconds. */
export const READER_MS = 3000;
/** Most frames in one reply about an answer. */
export const MOST_FRAMES = 32;

/** Every call rejects where the store cannot be reached. */
export interface AnswerStore {
  claim(claim: AnswerClaim): Promise<AnswerStanding>;
  /** Everything that a process has to say and to ask, in one call. @returns replies in the same order */
  exchange(said: readonly Said[], asked: readonly Asked[]): Promise<Exchanged>;
}
