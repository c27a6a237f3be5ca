// Counts what one part of the work on a request keeps, and tells the request's account in steps: an answer of the usual
// size is never told at all. Holds nothing itself.
import type { ByteAccount } from './call.ts';

/** Change that is too small to count, in bytes. */
export const STEP_BYTES = 64 * 1024;

export class HeldBytes {
  readonly #account: ByteAccount;
  #bytes = 0;
  #told = 0;

  constructor(account: ByteAccount) {
    this.#account = account;
  }

  /** So many bytes more. @throws GatewayError 503 where there is no room for them */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes - this.#told >= STEP_BYTES) this.#tell();
  }

  /** So many bytes in all: for what comes and goes. @throws like `add` */
  set(bytes: number): void {
    this.#bytes = bytes;
    if (Math.abs(bytes - this.#told) >= STEP_BYTES) this.#tell();
  }

  /** None any more. */
  release(): void {
    this.#bytes = 0;
    if (this.#told > 0) this.#tell();
  }

  #tell(): void {
    this.#account.add(this.#bytes - this.#told);
    this.#told = this.#bytes;
  }
}
