// Codes by which the operator of this machine signs in once, without a key: those that a gateway made and told, and the tokens
// of commands. Both are signed with a secret of the installation, so that any process of it takes them; each is good once,
// whichever process gets it. Knows no address and no database.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isOperatorToken, operatorToken } from './operator-token.ts';

/** Long enough to start a browser. */
const LIFETIME_MS = 15 * 60_000;
/** How far the clocks of two processes may be apart. */
const CLOCK_SLACK_MS = 5_000;
/** When it ends, what makes it another than all others, and the signature. */
const FORM = /^([0-9a-z]{1,11})\.([\w-]{24})\.([\w-]{43})$/;

export interface OneTimeCodesOptions {
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  /** Unix milliseconds. */
  readonly now: () => number;
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
    const until = (now() + LIFETIME_MS).toString(36);
    const nonce = randomBytes(18).toString('base64url');
    return `${until}.${nonce}.${signatureOf(until, nonce, operatorSecret)}`;
  }

  /** True for a code or an operator token that is good; it is not any more afterwards. */
  async take(code: string): Promise<boolean> {
    const { operatorSecret, now, claim } = this.#options;
    if (!isCode(code, operatorSecret, now()) && !isOperatorToken(code, operatorSecret, now())) return false;
    return claim(`sign-in ${createHash('sha256').update(code).digest('base64url')}`);
  }

  /** What stands for the operator in a request that is made now. */
  token(): string {
    return operatorToken(this.#options.operatorSecret, this.#options.now());
  }
}

function isCode(code: string, secret: Uint8Array, nowMs: number): boolean {
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
