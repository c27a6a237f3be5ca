// Cancellation of work that is no longer needed, from a request down to its attempts in their order of starting. Unlike
// AbortSignal, it carries a typed reason, and creates a signal only on demand.
import { GatewayError, TEXTS } from '../canonical/index.ts';
import type { Ticker, Ticking } from '../base/runtime/clock.ts';
import type { Client } from './call.ts';
import type { UnixMs } from '../base/units.ts';

/** Work that can be cancelled. */
export interface Cancellable {
  /** @param reason the result, unless there already is one */
  cancel(reason: GatewayError): void;
}

export class Cancellation implements Cancellable {
  #reason: GatewayError | undefined;
  /** Usually there is only one piece of work, so a set is created only for more. Its members started later. */
  #first: Cancellable | undefined;
  #others: Set<Cancellable> | undefined;
  #controller: AbortController | undefined;

  /** Reason of the cancellation. Undefined: not cancelled. */
  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /** AbortSignal for APIs that require one. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Cancels all running work. Only the first reason counts. */
  cancel(reason: GatewayError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort();
    this.#first?.cancel(reason);
    if (this.#others) for (const work of this.#others) work.cancel(reason);
  }

  /** Adds work to be cancelled with the rest; immediately if that has already happened. */
  add(work: Cancellable): void {
    if (!this.#first && !this.#others?.size) this.#first = work;
    else if (this.#first !== work) (this.#others ??= new Set()).add(work);
    if (this.#reason) work.cancel(this.#reason);
  }

  /** Removes finished work. */
  remove(work: Cancellable): void {
    if (this.#first === work) this.#first = undefined;
    else this.#others?.delete(work);
  }

  /** Runs work that can be cancelled separately, and is cancelled with the rest. */
  async within<T>(run: (own: Cancellation) => Promise<T>): Promise<T> {
    const own = new Cancellation();
    this.add(own);
    try {
      return await run(own);
    } finally {
      this.remove(own);
    }
  }

  /** Result of the work. Rejects with the reason on cancellation; the work itself continues. */
  async orCancelled<T>(work: Promise<T>): Promise<T> {
    let waiting: Cancellable | undefined;
    const cancelled = new Promise<never>((_, reject) => {
      waiting = { cancel: reject };
      this.add(waiting);
    });
    try {
      return await Promise.race([work, cancelled]);
    } finally {
      if (waiting) this.remove(waiting);
    }
  }
}

// Client connection: one client that waits for an answer. Tracks whether it is connected, and ticks while it waits.

export class ClientConnection implements Ticking {
  /** Cancellation of all work for this client. */
  readonly cancellation = new Cancellation();
  readonly #client: Client;
  #left = false;
  #isWatching = false;
  #isStreaming = false;
  #ticker: Ticker | undefined;
  #tickerPlace = 0;
  /** Ticks together with the connection. */
  #waiting: Ticking | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** True once the client disconnected before its answer was complete. */
  get left(): boolean {
    return this.#left;
  }

  /** True once the client receives a stream. */
  get isStreaming(): boolean {
    return this.#isStreaming;
  }

  /** Starts waiting. @param waiting ticks once per period until `end` */
  begin(ticker: Ticker, waiting?: Ticking): void {
    this.#ticker = ticker;
    this.#waiting = waiting;
    this.#tickerPlace = ticker.add(this);
  }

  tick(nowMs: UnixMs): void {
    this.watch();
    this.#waiting?.tick(nowMs);
  }

  /**
   * Starts watching for a disconnect. Called at the first tick or first streamed byte, because most whole answers are
   * sent earlier and listening is expensive.
   */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#client.onLeave(() => {
      this.#left = true;
      this.cancellation.cancel(new GatewayError('cancelled', TEXTS.clientClosed));
    });
  }

  /** The head of a stream was sent. */
  stream(): void {
    this.#isStreaming = true;
    this.watch();
  }

  end(): void {
    this.#ticker?.remove(this, this.#tickerPlace);
    this.#ticker = undefined;
  }
}
