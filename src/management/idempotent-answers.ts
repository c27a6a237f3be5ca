// Answers to creates that carried an `Idempotency-Key`, for a client that lost the answer and asks again. In memory only: an
// answer may hold a key that is shown once. Knows no route.
import { createHash } from 'node:crypto';
import { GatewayError } from '../canonical/index.ts';

const HEADER = 'idempotency-key';
/** Visible ASCII, as on the data plane. */
const FORM = /^[\x21-\x7e]{1,255}$/;
const TTL_MS = 3_600_000;
/** Answers that are kept; the oldest go first. */
const MOST = 1_000;

interface Kept {
  readonly fingerprint: string;
  readonly endsAt: number;
  readonly answer: Promise<Response>;
}

/** What is asked, and by whom. */
export interface Asking {
  readonly headers: Headers;
  /** Who asks, and at which route: a key of theirs means nothing elsewhere. */
  readonly scope: string;
  /** What tells this request from others of the route. */
  readonly content: string;
  /** Unix milliseconds. */
  readonly now: number;
}

export class IdempotentAnswers {
  /** In the order of their making. */
  readonly #kept = new Map<string, Kept>();

  /**
   * The answer: that of before, where the same was asked with the same key. A failure is told and forgotten.
   * @throws GatewayError `invalid_request` for a malformed key, `conflict` for one that belongs to another request
   */
  async answer({ headers, scope, content, now }: Asking, make: () => Promise<Response>): Promise<Response> {
    const given = headers.get(HEADER);
    if (given === null) return make();
    if (!FORM.test(given))
      throw new GatewayError('invalid_request', `${HEADER}: must be 1 to 255 visible ASCII characters`, {
        param: HEADER,
      });
    this.#forget(now);
    const name = JSON.stringify([scope, given]);
    const fingerprint = createHash('sha256').update(content).digest('base64url');
    const before = this.#kept.get(name);
    if (before && before.fingerprint !== fingerprint)
      throw new GatewayError('conflict', `the ${HEADER} belongs to another request`, {
        code: 'idempotency_conflict',
      });
    if (before) {
      const replayed = (await before.answer).clone();
      replayed.headers.set('idempotent-replayed', 'true');
      return replayed;
    }
    const answer = make();
    this.#kept.set(name, { fingerprint, endsAt: now + TTL_MS, answer });
    try {
      // Whoever sends it reads it to its end: what is kept stays whole.
      return (await answer).clone();
    } catch (error) {
      this.#kept.delete(name);
      throw error;
    }
  }

  #forget(now: number): void {
    for (const [name, { endsAt }] of this.#kept) {
      if (endsAt > now && this.#kept.size < MOST) return;
      this.#kept.delete(name);
    }
  }
}
