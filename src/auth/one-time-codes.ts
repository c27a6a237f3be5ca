// Codes by which the operator of this machine signs in once, without a key: those that this process made and told, and the
// tokens of commands, which know the secret of the data directory. Each is good once. Knows no address.
import { randomBytes } from 'node:crypto';
import { isOperatorToken, operatorToken } from './operator-token.ts';

/** Long enough to start a browser. */
const LIFETIME_MS = 15 * 60_000;
/** Codes that are remembered; the oldest go first. */
const MOST = 100;

export interface OneTimeCodesOptions {
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export class OneTimeCodes {
  readonly #options: OneTimeCodesOptions;
  /** When each ends that was made here. */
  readonly #open = new Map<string, number>();
  /** Tokens that were used, and when. */
  readonly #used = new Map<string, number>();

  constructor(options: OneTimeCodesOptions) {
    this.#options = options;
  }

  /** A new code, good once within a quarter of an hour. */
  issue(): string {
    const code = randomBytes(24).toString('base64url');
    for (const old of this.#open.keys()) if (this.#open.size >= MOST) this.#open.delete(old);
    this.#open.set(code, this.#options.now() + LIFETIME_MS);
    return code;
  }

  /** True for a code or an operator token that is good; it is not any more afterwards. */
  take(code: string): boolean {
    const { operatorSecret, now } = this.#options;
    const endsAt = this.#open.get(code);
    if (endsAt !== undefined) return this.#open.delete(code) && endsAt > now();
    if (this.#used.has(code) || !isOperatorToken(code, operatorSecret, now())) return false;
    for (const [token, at] of this.#used) if (at < now() - LIFETIME_MS) this.#used.delete(token);
    this.#used.set(code, now());
    return true;
  }

  /** What stands for the operator in a request that is made now. */
  token(): string {
    return operatorToken(this.#options.operatorSecret, this.#options.now());
  }
}
