// Takes the whole answer of a request that no client waits for.
import type { Body, Client, ClientStream } from '../call.ts';
import type { Cancellation } from '../cancellation.ts';

/** Answer that the client would have got. */
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
    throw new TypeError('the answer is no stream');
  }

  onLeave(left: () => void): void {
    this.#cancellation.add({ cancel: left });
  }
}
