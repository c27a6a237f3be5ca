// Client that waits for one answer: whether it is still connected, and what is done now and then while it waits.
import { GatewayError, TEXTS } from '../canonical/index.ts';
import type { Ticker, Ticking } from '../base/runtime/clock.ts';
import type { Client } from './call.ts';
import { Cancellation } from './cancellation.ts';

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

  tick(nowMs: number): void {
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
