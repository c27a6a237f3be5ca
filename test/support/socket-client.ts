// A client of the WebSocket mode of `/responses`: sends messages, keeps what comes, and waits for it without a clock.
import { at, type Json } from './upstreams/json-path.ts';
import type { Frame } from './recordings/loose.ts';

export type Message = Readonly<Record<string, Json>>;

/** Ends a turn, good or bad. */
const ENDS: ReadonlySet<Json | undefined> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/** This runtime's client takes headers, which browsers do not. */
const HeaderSocket = WebSocket as unknown as new (
  url: string,
  options: {
    readonly headers: Readonly<Record<string, string>>;
    readonly tls?: { readonly ca: string } | undefined;
  },
) => WebSocket;

export class SocketClient implements AsyncDisposable {
  /** Everything that came, in order. */
  readonly messages: Message[] = [];
  /** Code and reason with which the connection ended. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly #socket: WebSocket;
  #check: (() => void)[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      this.messages.push(JSON.parse(String(data)) as Message);
      for (const check of this.#check) check();
    });
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => resolve({ code, reason }));
    });
  }

  /**
   * @param origin `http://host:port` or `https://host:port`
   * @param ca PEM text of the authority to trust
   */
  static async open(
    origin: string,
    headers: Readonly<Record<string, string>> = {},
    path = '/v1/responses',
    ca?: string,
  ): Promise<SocketClient> {
    const url = origin.replace('http', 'ws') + path;
    const socket = new HeaderSocket(url, {
      headers: { authorization: 'Bearer sk-test', ...headers },
      ...(ca !== undefined && { tls: { ca } }),
    });
    const client = new SocketClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('error', () => reject(new Error('the handshake was refused')));
    });
    return client;
  }

  send(message: unknown): void {
    const isRaw = typeof message === 'string' || message instanceof Uint8Array;
    this.#socket.send(isRaw ? (message as string | Uint8Array<ArrayBuffer>) : JSON.stringify(message));
  }

  /** Asks for a response without waiting for it. */
  create(body: Readonly<Record<string, unknown>>): void {
    this.send({ type: 'response.create', ...body });
  }

  /** Asks for a response and waits for the end of this lane's turn. @returns its messages */
  async turn(body: Readonly<Record<string, unknown>>): Promise<readonly Message[]> {
    const before = this.messages.length;
    this.create(body);
    return this.ended(body['stream_id'] as string | undefined, before);
  }

  /** The messages of a lane, once it has come to an end of a turn. @param from the first that counts */
  async ended(streamId?: string, from = 0): Promise<readonly Message[]> {
    const own = (): Message[] =>
      this.messages.slice(from).filter((message) => message['stream_id'] === streamId);
    await this.until(() => own().some((message) => ENDS.has(message['type'])));
    return own();
  }

  /** Settles when this holds of what came. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        this.#check = this.#check.filter((other) => other !== check);
        resolve();
      };
      this.#check.push(check);
      check();
    });
  }

  close(): void {
    this.#socket.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.closed;
  }
}

/** Messages as the event stream that they stand for. */
export function asFrames(messages: readonly Message[]): Frame[] {
  return messages.map(({ stream_id: _, ...event }) => ({
    event: String(event['type']),
    data: JSON.stringify(event),
  }));
}

/** The text of a turn's last message. */
export function textOf(messages: readonly Message[]): string {
  return messages
    .filter((message) => message['type'] === 'response.output_text.delta')
    .map((message) => String(message['delta']))
    .join('');
}

/** The id of a turn's response. */
export function idOf(messages: readonly Message[]): string {
  return String(at(messages.at(-1) as Json, 'response', 'id'));
}
