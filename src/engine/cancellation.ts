// How work is told that nobody waits for it any more: from a request down to its attempts, in the order in which they
// began. Unlike an AbortSignal it carries the failure as its type, and costs nothing until somebody asks for a signal.
import { GatewayError, TEXTS } from '../canonical/index.ts';
import type { Ticker, Ticking } from '../base/runtime/clock.ts';
import type { Client } from './call.ts';
import type { UnixMs } from '../base/units.ts';

/** Work that can be stopped. */
export interface Cancellable {
  /** @param reason the outcome, if there was none before */
  cancel(reason: GatewayError): void;
}

export class Cancellation implements Cancellable {
  #reason: GatewayError | undefined;
  /** Most have one piece of work at a time: a set is made for more. What is in it began later. */
  #first: Cancellable | undefined;
  #others: Set<Cancellable> | undefined;
  #controller: AbortController | undefined;

  /** Why nobody waits any more; undefined while somebody does. */
  get reason(): GatewayError | undefined {
    return this.#reason;
  }

  /** The same for what knows signals only. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** Stops all that runs. Only the first reason counts. */
  cancel(reason: GatewayError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort();
    this.#first?.cancel(reason);
    if (this.#others) for (const work of this.#others) work.cancel(reason);
  }

  /** From now on `work` is stopped with the rest; at once where that was stopped already. */
  add(work: Cancellable): void {
    if (!this.#first && !this.#others?.size) this.#first = work;
    else if (this.#first !== work) (this.#others ??= new Set()).add(work);
    if (this.#reason) work.cancel(this.#reason);
  }

  /** The work is over. */
  remove(work: Cancellable): void {
    if (this.#first === work) this.#first = undefined;
    else this.#others?.delete(work);
  }

  /** Runs work that can be stopped by itself, and is stopped with the rest. */
  async within<T>(run: (own: Cancellation) => Promise<T>): Promise<T> {
    const own = new Cancellation();
    this.add(own);
    try {
      return await run(own);
    } finally {
      this.remove(own);
    }
  }

  /** Result of the work. Rejects with the reason where nobody waits for it any more; the work itself goes on. */
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

// Client that waits for one answer: whether it is still connected, and what is done now and then while it waits.

export class ClientConnection implements Ticking {
  /** Cancellation of all work for this client. */
  readonly cancellation = new Cancellation();
  readonly #client: Client;
  #left = false;
  #isWatching = false;
  #isStreaming = false;
  #ticker: Ticker | undefined;
  #tickerPlace = 0;
  /** Ticks with it. */
  #waiting: Ticking | undefined;

  constructor(client: Client) {
    this.#client = client;
  }

  /** True once the client went away before its answer was complete. */
  get left(): boolean {
    return this.#left;
  }

  /** True once the client reads a stream. */
  get isStreaming(): boolean {
    return this.#isStreaming;
  }

  /** The client begins to wait. @param waiting ticks once per period, until `end` */
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
   * Notices from now on when the client leaves. Begins with the first tick or the first streamed byte: most whole
   * answers are there before, and listening costs more than it looks.
   */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#client.onLeave(() => {
      this.#left = true;
      this.cancellation.cancel(new GatewayError('cancelled', TEXTS.clientClosed));
    });
  }

  /** The client has the head of a stream. */
  stream(): void {
    this.#isStreaming = true;
    this.watch();
  }

  end(): void {
    this.#ticker?.remove(this, this.#tickerPlace);
    this.#ticker = undefined;
  }
}
