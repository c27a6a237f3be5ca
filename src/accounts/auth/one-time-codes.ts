// Codes by which the operator of this machine signs in to the console once, without a key: a gateway or `dragoman console`
// prints them. They are signed with a secret of the installation, so that any process of it takes them; each is good once,
// whichever process gets it, and nowhere but for signing in. Knows no address and no database.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { UnixMs } from '../../base/units.ts';

/** Long enough to start a browser. */
const LIFETIME_MS = 15 * 60_000;
/** Difference that the clocks of two processes may have. */
const CLOCK_SLACK_MS = 5_000;
/** When it ends, what makes it another than all others, and the signature. */
const FORM = /^([0-9a-z]{1,11})\.([\w-]{24})\.([\w-]{43})$/;

export interface OneTimeCodesOptions {
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  readonly now: () => UnixMs;
  /** Notes something in all processes at once. False: it was noted before. */
  readonly claim: (what: string) => Promise<boolean>;
}

export class OneTimeCodes {
  readonly #options: OneTimeCodesOptions;

  constructor(options: OneTimeCodesOptions) {
    this.#options = options;
  }

  /** A new code, good once within a quarter of an hour. */
  issue(): string {
    const { operatorSecret, now } = this.#options;
    return signInCode(operatorSecret, now() + LIFETIME_MS);
  }

  /** True for a code that is good; it is not any more afterwards. */
  async take(code: string): Promise<boolean> {
    const { operatorSecret, now, claim } = this.#options;
    if (!isCode(code, operatorSecret, now())) return false;
    return claim(`sign-in ${createHash('sha256').update(code).digest('base64url')}`);
  }
}

/**
 * A new code, good once.
 * @param secret `storage.secret('operator')`
 * @param untilMs Unix milliseconds; at most a quarter of an hour from now
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
