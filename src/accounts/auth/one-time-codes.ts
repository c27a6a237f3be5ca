// One-time codes by which the operator signs in to the console without a key. The gateway's start and `dragoman console`
// print them. They are signed with a secret of the installation, so that all of its processes accept them, each code once.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { UnixMs } from '../../base/units.ts';

/** Lifetime in milliseconds: long enough to open a browser. */
const LIFETIME_MS = 15 * 60_000;
/** Tolerated difference between the clocks of two processes, in milliseconds. */
const CLOCK_SLACK_MS = 5_000;
/** Expiry, nonce and signature. */
const FORM = /^([0-9a-z]{1,11})\.([\w-]{24})\.([\w-]{43})$/;

export interface OneTimeCodesOptions {
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  readonly now: () => UnixMs;
  /** Claims a value across all processes. False: it was already claimed. */
  readonly claim: (what: string) => Promise<boolean>;
}

export class OneTimeCodes {
  readonly #options: OneTimeCodesOptions;

  constructor(options: OneTimeCodesOptions) {
    this.#options = options;
  }

  /** Issues a code that is valid once, within 15 minutes. */
  issue(): string {
    const { operatorSecret, now } = this.#options;
    return signInCode(operatorSecret, now() + LIFETIME_MS);
  }

  /** Redeems a code. @returns true if it was valid; it cannot be used again */
  async take(code: string): Promise<boolean> {
    const { operatorSecret, now, claim } = this.#options;
    if (!isCode(code, operatorSecret, now())) return false;
    return claim(`sign-in ${createHash('sha256').update(code).digest('base64url')}`);
  }
}

/**
 * Creates a one-time code.
 * @param secret `storage.secret('operator')`
 * @param untilMs expiry in Unix milliseconds; at most 15 minutes from now
 */
export function signInCode(secret: Uint8Array, untilMs: UnixMs): string {
  const until = untilMs.toString(36);
  const nonce = randomBytes(18).toString('base64url');
  return `${until}.${nonce}.${signatureOf(until, nonce, secret)}`;
}

function isCode(code: string, secret: Uint8Array, nowMs: UnixMs): boolean {
  const [, until = '', nonce = '', signature = ''] = FORM.exec(code) ?? [];
  if (until === '') return false;
  const expected = Buffer.from(signatureOf(until, nonce, secret));
  const isSigned = timingSafeEqual(expected, Buffer.from(signature));
  const left = Number.parseInt(until, 36) - nowMs;
  return isSigned && left > 0 && left <= LIFETIME_MS + CLOCK_SLACK_MS;
}

function signatureOf(until: string, nonce: string, secret: Uint8Array): string {
  return createHmac('sha256', secret).update(`sign-in ${until} ${nonce}`).digest('base64url');
}
