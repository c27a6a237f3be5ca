// The client of one request as the engine sees it: a promise for the Response, and a stream that is pushed.
import type { Client, ClientStream, Encoding } from '../engine/index.ts';
import { pushBody, type PushBody } from '../runtime/http-server.ts';

export class HttpClient implements Client {
  readonly response: Promise<Response>;
  readonly #request: Request;
  #answer: (response: Response) => void = () => {};

  constructor(request: Request) {
    this.#request = request;
    this.response = new Promise((resolve) => (this.#answer = resolve));
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: string, encoding: Encoding): void {
    this.#answer(new Response(encodeBody(body, encoding), { status, headers }));
  }

  openStream(headers: Readonly<Record<string, string>>): ClientStream {
    const body = pushBody();
    this.#answer(new Response(body.stream, { status: 200, headers }));
    return new HttpStream(body);
  }

  onLeave(left: () => void): void {
    const { signal } = this.#request;
    if (signal.aborted) left();
    else signal.addEventListener('abort', left, { once: true });
  }
}

class HttpStream implements ClientStream {
  readonly #body: PushBody;

  constructor(body: PushBody) {
    this.#body = body;
  }

  write(data: string, encoding: Encoding): boolean {
    return this.#body.write(encodeBody(data, encoding));
  }

  onDrain(drained: () => void): void {
    this.#body.onDrain(drained);
  }

  end(): void {
    this.#body.end();
  }
}

/** The runtime would encode a byte string as UTF-8: only plain text may be handed over as it is. */
function encodeBody(body: string, encoding: Encoding): string | Uint8Array<ArrayBuffer> {
  return encoding === 'text' ? body : Buffer.from(body, 'latin1');
}
