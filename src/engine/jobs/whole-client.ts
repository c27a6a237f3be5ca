// Receives the whole answer of a request without a connected client.
import type { Body, Client, ClientStream } from '../call.ts';
import type { Cancellation } from '../cancellation.ts';

/** Response that the client would have received. */
export interface WholeResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export class WholeClient implements Client {
  readonly hasContent = false;
  isMuted = false;
  result: WholeResult | undefined;
  readonly #cancellation: Cancellation;

  constructor(cancellation: Cancellation) {
    this.#cancellation = cancellation;
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void {
    this.result = { status, headers, body: String(body) };
  }

  openStream(): ClientStream {
    throw new TypeError('the response is not a stream');
  }

  onLeave(left: () => void): void {
    this.#cancellation.add({ cancel: left });
  }
}
