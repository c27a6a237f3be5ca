// Replays answers to creates with an `Idempotency-Key`, for clients that retry, in any process. Stored answers are
// sealed, because they may contain a key that is shown only once.
import { createHash } from 'node:crypto';
import type { ManagementAnswer, ManagementAnswerStore } from '../../accounts/ports/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { newId } from '../../base/runtime/ids.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { openWithAny, seal } from '../../engine/state/seal.ts';

const HEADER = 'idempotency-key';
/** Visible ASCII, as in the data plane. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const TTL_MS = 3_600_000;
/** Milliseconds after which the claim of a process that stopped responding expires. */
const RUN_MS = 60_000;
/** Polling interval for another process's answer, and its timeout. Milliseconds. */
const LOOK_MS = 50;
const PATIENCE_MS = 10_000;

export interface IdempotentAnswersOptions {
  readonly store: ManagementAnswerStore;
  /** 32-byte secrets shared by all processes, newest first. */
  readonly secrets: readonly Uint8Array[];
  readonly clock: Clock;
}

/** A request with its caller. */
export interface Asking {
  readonly headers: Headers;
  /** Caller. Idempotency keys are scoped to it. */
  readonly scope: string;
  /** Identifies the request: method, path, query, body and `If-Match`, as JSON. */
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
   * Answers a request, with the stored answer if the same key was used for the same request. Failures are not stored.
   * @throws GatewayError `invalid_request` for a malformed key, `conflict` for a key of another request or of one that
   * another process has not finished
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
    // The answer is sent even if it cannot be stored. The key then stays claimed for a minute.
    await store.keep(claim, Buffer.from(sealed).toString('base64'), clock.wall() + TTL_MS).catch(() => {});
    return responseOf(kept);
  }

  /** The stored answer. Null: it is still being made. */
  #replay(id: string, fingerprint: string, before: ManagementAnswer): Response | null {
    if (before.fingerprint !== fingerprint)
      throw new GatewayError('conflict', `${HEADER}: already used for a different request; use a new key`, {
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
    `${HEADER}: this request is already running elsewhere in the gateway. Try again with the same key.`,
    { param: HEADER, code: 'idempotency_in_progress', retryAfterMs: 1000 },
  );
}
