// Answers under idempotency keys that other processes make, or want, as a port.
import type { Client } from '../call.ts';

/** A running answer, as far as other processes may have it. */
export interface PublicAnswer {
  /** Gives a reader all of it, from the start. False: it is not kept, and cannot be had from the start any more. */
  readonly join: (reader: Client) => boolean;
  /** False: too large, or there is no room for it. */
  readonly isKept: () => boolean;
}

export interface Publication {
  /** Others may have the answer from now on. */
  begin(answer: PublicAnswer): void;
  /** It is over. @param good true: it may be given again */
  end(good: boolean): void;
}

/**
 * `own`: this process makes it; `publication` is null where nobody can be told. `other`: another makes it, or has made it. `conflict`: its
 * name stands for another request. `large`: another makes it, and it is too large to be handed over.
 */
export type AnswerSource =
  | { readonly type: 'own'; readonly publication: Publication | null }
  | { readonly type: 'other'; readonly follow: (reader: Client) => Promise<FollowedEnd> }
  | { readonly type: 'conflict' | 'large' };

/** `good` and `failed`: the reader has the same as the others. `gone`: nobody tells the rest of it any more. */
export type FollowedEnd = 'good' | 'failed' | 'gone';

export interface AnswerExchange {
  /** Never rejects. @param name of the answer @param fingerprint of what was asked */
  claim(name: string, fingerprint: string): Promise<AnswerSource>;
}
