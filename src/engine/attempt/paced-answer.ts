// Buffer between an upstream's socket and the reader of its answer. While a socket is paused, megabytes gather in the
// kernel and then arrive in a few large reads. They are processed in slices, so that other requests run in between, and
// not at all while the client does not read.
import { GatewayError } from '../../canonical/index.ts';
import { nextTurn } from '../../base/runtime/clock.ts';
import type { TransportFailure, UpstreamCall, UpstreamListener } from '../../upstream/client.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { type ByteAccount, HeldBytes } from '../call.ts';

/** Maximum bytes processed per turn of the event loop; a few milliseconds in the slowest lane. */
const SLICE_BYTES = 64 * 1024;
const NO_BYTES: Buffer = Buffer.alloc(0);

/** Called when an answer must be refused. */
export interface Refusals {
  refused(error: GatewayError): void;
}

export class PacedAnswer implements UpstreamListener, UpstreamCall {
  readonly #next: UpstreamListener;
  readonly #refusals: Refusals;
  readonly #held: HeldBytes;
  #call: UpstreamCall | undefined;
  /** Bytes that were read and not processed: at most about one read, because the socket is paused then. */
  #waiting = NO_BYTES;
  #ending: (() => void) | undefined;
  #isPaused = false;
  #isScheduled = false;

  /**
   * @param next receives `data` in pieces of at most one slice
   * @param account memory account of the buffer
   * @param refusals called when no memory is available for the buffer
   */
  constructor(next: UpstreamListener, account: ByteAccount, refusals: Refusals) {
    this.#next = next;
    this.#refusals = refusals;
    this.#held = new HeldBytes(account);
  }

  /** @param call the call whose bytes arrive here */
  attach(call: UpstreamCall): void {
    this.#call = call;
    if (this.#isPaused) call.pause();
  }

  connected(): void {
    this.#next.connected();
  }

  head(head: ResponseHead): void {
    this.#next.head(head);
  }

  data(bytes: Buffer): void {
    const { length } = this.#waiting;
    if (bytes.length <= SLICE_BYTES && length === 0 && !this.#isPaused) return this.#next.data(bytes);
    this.#waiting = length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    this.#call?.pause();
    try {
      this.#held.set(this.#waiting.length);
    } catch (error) {
      return this.#refusals.refused(GatewayError.from(error));
    }
    if (!this.#isScheduled && !this.#isPaused) this.#work();
  }

  end(): void {
    this.#finally(() => this.#next.end());
  }

  failed(failure: TransportFailure, message: string): void {
    this.#finally(() => this.#next.failed(failure, message));
  }

  /** Stops processing and reading until the reader can take more. */
  pause(): void {
    this.#isPaused = true;
    this.#call?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#waiting.length === 0 && !this.#ending) this.#call?.resume();
    else this.#later();
  }

  /** Closes the connection and discards what was read. */
  abort(): void {
    this.#waiting = NO_BYTES;
    this.#held.release();
    this.#ending = undefined;
    this.#call?.abort();
  }

  #finally(ending: () => void): void {
    if (this.#waiting.length === 0) ending();
    else this.#ending = ending;
  }

  #later(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    nextTurn(() => {
      this.#isScheduled = false;
      if (!this.#isPaused) this.#work();
    });
  }

  #work(): void {
    const slice = this.#waiting.subarray(0, SLICE_BYTES);
    this.#waiting = this.#waiting.subarray(SLICE_BYTES);
    this.#held.set(this.#waiting.length);
    if (slice.length > 0) this.#next.data(slice);
    if (this.#isPaused) return;
    if (this.#waiting.length > 0) return this.#later();
    const ending = this.#ending;
    this.#ending = undefined;
    if (ending) ending();
    else this.#call?.resume();
  }
}
