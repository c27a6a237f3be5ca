// HTTP client: adapts one request to the engine with a promise for the Response and a pushed stream.
import { isAscii } from '../base/lib/bytes.ts';
import { type Connection, pushBody, type PushBody } from '../base/runtime/http-server.ts';
import type { Body, Client, ClientStream, Encoding } from '../engine/index.ts';
import { ANSWER_HEADERS } from './answer-headers.ts';

export class HttpClient implements Client {
  readonly response: Promise<Response>;
  readonly #request: Request;
  readonly #connection: Connection;
  readonly #answer: (response: Response) => void;
  readonly #fail: (error: unknown) => void;

  /** @param connection its idle timeout is lifted until the end of the answer */
  constructor(request: Request, connection: Connection) {
    this.#request = request;
    this.#connection = connection;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.response = promise;
    this.#answer = resolve;
    this.#fail = reject;
  }

  /** Fails the response. Has no effect once there is one. */
  fail(error: unknown): void {
    this.#fail(error);
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void {
    this.#connection.enableIdleTimeout();
    // The buffer is not shared with another thread.
    const whole = body as string | Buffer<ArrayBuffer>;
    this.#answer(new Response(whole, { status, headers: { ...ANSWER_HEADERS, ...headers } }));
  }

  openStream(headers: Readonly<Record<string, string>>): ClientStream {
    const body = pushBody();
    const marked = { ...ANSWER_HEADERS, ...headers };
    this.#answer(new Response(body.stream, { status: 200, headers: marked }));
    return new HttpStream(body, this.#connection);
  }

  onLeave(left: () => void): void {
    const { signal } = this.#request;
    if (signal.aborted) left();
    else signal.addEventListener('abort', left, { once: true });
  }
}

class HttpStream implements ClientStream {
  readonly #body: PushBody;
  readonly #connection: Connection;

  constructor(body: PushBody, connection: Connection) {
    this.#body = body;
    this.#connection = connection;
  }

  write(data: string, encoding: Encoding): boolean {
    return this.#body.write(encodePiece(data, encoding));
  }

  onDrain(drained: () => void): void {
    this.#body.onDrain(drained);
  }

  end(): void {
    this.#connection.enableIdleTimeout();
    this.#body.end();
  }
}

/** The runtime would encode a byte string as UTF-8, so only ASCII text is passed without a copy. */
function encodePiece(data: string, encoding: Encoding): string | Uint8Array<ArrayBuffer> {
  return encoding === 'text' || isAscii(data) ? data : Buffer.from(data, 'latin1');
}
