// Counts what one part of the work on a request keeps, and tells the request's account in steps: an answer of the usual
// size is never told at all. Holds nothing itself.
import type { ByteAccount } from './call.ts';

/** Change that is too small to count, in bytes. */
export const STEP_BYTES = 64 * 1024;

export class HeldBytes {
  readonly #account: ByteAccount;
  #bytes = 0;
  #reported = 0;

  constructor(account: ByteAccount) {
    this.#account = account;
  }

  /** So many bytes more. @throws GatewayError 503 where there is no room for them */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes - this.#reported >= STEP_BYTES) this.#report();
  }

  /** So many bytes in all: for what comes and goes. @throws like `add` */
  set(bytes: number): void {
    this.#bytes = bytes;
    if (Math.abs(bytes - this.#reported) >= STEP_BYTES) this.#report();
  }

  /** None any more. */
  release(): void {
    this.#bytes = 0;
    if (this.#reported > 0) this.#report();
  }

  #report(): void {
    this.#account.add(this.#bytes - this.#reported);
    this.#reported = this.#bytes;
  }
}
