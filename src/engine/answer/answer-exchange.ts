// Port for sharing answers under idempotency keys with other processes.
import type { Client } from '../call.ts';

/** A running answer as other processes can access it. */
export interface PublicAnswer {
  /** Sends a reader the whole answer from its start. False: its start is no longer available. */
  readonly join: (reader: Client) => boolean;
  /** False: too large, or no memory is available for it. */
  readonly isKept: () => boolean;
}

export interface Publication {
  /** Makes the answer available to others. */
  begin(answer: PublicAnswer): void;
  /**
   * Ends the publication.
   * @param good true: the answer may be replayed
   */
  end(good: boolean): void;
}

/**
 * `own`: this process runs the request; `publication` is null when sharing is unavailable. `other`: another process
 * runs or ran it. `conflict`: the name is in use for a different request. `large`: another process runs it, and the
 * answer is too large to share.
 */
export type AnswerSource =
  | { readonly type: 'own'; readonly publication: Publication | null }
  | { readonly type: 'other'; readonly follow: (reader: Client) => Promise<FollowedEnd> }
  | { readonly type: 'conflict' | 'large' };

/**
 * `good` and `failed`: the reader received the same as the others. `gone`: the rest of the answer is no longer
 * available.
 */
export type FollowedEnd = 'good' | 'failed' | 'gone';

export interface AnswerExchange {
  /**
   * Claims the name of an answer. Never rejects.
   * @param fingerprint of the request
   */
  claim(name: string, fingerprint: string): Promise<AnswerSource>;
}
