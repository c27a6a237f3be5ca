// Answers to creates that carried an `Idempotency-Key`, for a client that lost the answer and asks again, at whichever process.
// The database keeps them sealed: an answer may hold a key that is shown once. Knows no route.
import { createHash } from 'node:crypto';
import type { ManagementAnswer, ManagementAnswerStore } from '../../accounts/ports/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { newId } from '../../base/runtime/ids.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { openWithAny, seal } from '../../engine/state/seal.ts';

const HEADER = 'idempotency-key';
/** Visible ASCII, as on the data plane. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const TTL_MS = 3_600_000;
/** How long a request belongs to a process that says nothing more of it, in milliseconds. */
const RUN_MS = 60_000;
/** How often another process's answer is looked for, and for how long, in milliseconds. */
const LOOK_MS = 50;
const PATIENCE_MS = 10_000;

export interface IdempotentAnswersOptions {
  readonly store: ManagementAnswerStore;
  /** 32 bytes each that the processes have in common, the newest first. */
  readonly secrets: readonly Uint8Array[];
  readonly clock: Clock;
}

/** Request, and who makes it. */
export interface Asking {
  readonly headers: Headers;
  /** Caller: a key of theirs means nothing to others. */
  readonly scope: string;
  /** Digest that differs from that of other requests: method, address, body. */
  readonly content: string;
}

interface Kept {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export class IdempotentAnswers {
  readonly #options: IdempotentAnswersOptions;

  constructor(options: IdempotentAnswersOptions) {
    this.#options = options;
  }

  /**
   * The answer: that of before, where the same was asked with the same key. A failure is told and forgotten.
   * @throws GatewayError `invalid_request` for a malformed key, `conflict` for one that belongs to another request, or to
   *   one that another process does not finish
   */
  async answer({ headers, scope, content }: Asking, make: () => Promise<Response>): Promise<Response> {
    const given = headers.get(HEADER);
    if (given === null) return make();
    if (!IDEMPOTENCY_KEY.test(given))
      throw new GatewayError('invalid_request', TEXTS.mustBeVisible(HEADER), {
        param: HEADER,
      });
    const { store, clock } = this.#options;
    const id = digest(JSON.stringify([scope, given]));
    const fingerprint = digest(content);
    const run = newId('run_');
    const patientUntil = clock.now() + PATIENCE_MS;
    for (;;) {
      const nowMs = clock.wall();
      const before = await store.claim({ id, fingerprint, run, until: nowMs + RUN_MS }, nowMs);
      if (!before) return this.#make({ id, run }, make);
      const replayed = this.#replay(id, fingerprint, before);
      if (replayed) return replayed;
      if (clock.now() >= patientUntil) throw inProgress();
      await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
    }
  }

  async #make(
    claim: { readonly id: string; readonly run: string },
    make: () => Promise<Response>,
  ): Promise<Response> {
    const { store, secrets, clock } = this.#options;
    let kept: Kept;
    try {
      const answer = await make();
      kept = { status: answer.status, headers: [...answer.headers], body: await answer.text() };
    } catch (error) {
      await store.drop(claim);
      throw error;
    }
    const [secret = new Uint8Array(32)] = secrets;
    const sealed = seal(secret, Buffer.from(JSON.stringify(kept)), claim.id);
    // The answer is sent also where it cannot be kept: the key belongs to it for a minute then.
    await store.keep(claim, Buffer.from(sealed).toString('base64'), clock.wall() + TTL_MS).catch(() => {});
    return responseOf(kept);
  }

  /** Null as long as the answer is being made. */
  #replay(id: string, fingerprint: string, before: ManagementAnswer): Response | null {
    if (before.fingerprint !== fingerprint)
      throw new GatewayError('conflict', `the ${HEADER} belongs to another request`, {
        code: 'idempotency_conflict',
      });
    if (before.sealed === null) return null;
    const bytes = openWithAny(this.#options.secrets, Buffer.from(before.sealed, 'base64'), id);
    if (!bytes) throw inProgress();
    const replayed = responseOf(JSON.parse(Buffer.from(bytes).toString()) as Kept);
    replayed.headers.set('idempotent-replayed', 'true');
    return replayed;
  }
}

function responseOf({ status, headers, body }: Kept): Response {
  return new Response(body, {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  });
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function inProgress(): GatewayError {
  return new GatewayError(
    'conflict',
    `${HEADER}: this request is being answered elsewhere in the gateway: ask again with the same key`,
    { param: HEADER, code: 'idempotency_in_progress', retryAfterMs: 1000 },
  );
}
