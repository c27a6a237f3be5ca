// An upstream on a real socket that does exactly what a test says: it records what arrived, byte for byte, and
// answers with scripted bytes, faults included. Knows HTTP/1.1 framing and nothing of any protocol above it.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** One request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as text, exactly as sent. */
  readonly text: string;
  /** Null for a body that is no JSON object or list. */
  readonly json: unknown;
  /** Which connection it came on, counted from 0. */
  readonly connection: number;
}

/** The answering side of one request. Nothing is framed unless a method says so. */
export class Exchange {
  readonly request: Arrived;
  /** Settles when the connection is closed, by whoever. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;

  constructor(request: Arrived, socket: Socket, closed: Promise<void>) {
    this.request = request;
    this.#socket = socket;
    this.closed = closed;
  }

  /** Writes bytes as they are. */
  raw(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Writes a status line and headers. */
  head(status: number, headers: Readonly<Record<string, string>>): void {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.raw(`HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n`);
  }

  /** Opens an event stream. */
  openStream(headers: Readonly<Record<string, string>> = {}): void {
    this.head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked', ...headers });
  }

  /** Writes one HTTP chunk. */
  chunk(bytes: string | Uint8Array): void {
    const data = Buffer.from(bytes as Uint8Array);
    if (data.length === 0) return;
    this.raw(Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]));
  }

  /** Ends a chunked body properly. */
  endStream(): void {
    this.raw('0\r\n\r\n');
  }

  /** Bytes that the gateway has not taken yet. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  /** Closes the connection after what was written. */
  close(): void {
    this.#socket.end();
  }

  /** Breaks the connection. */
  cut(): void {
    this.#socket.destroy();
  }
}

/** Handler of one request. */
export type Answer = (exchange: Exchange) => void;

export class ScriptedUpstream {
  readonly requests: Arrived[] = [];
  readonly exchanges: Exchange[] = [];
  /** Connections that were ever opened. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #script: Answer[] = [];
  #otherwise: Answer = (exchange) => exchange.cut();
  #waiting: { readonly count: number; readonly resolve: (exchange: Exchange) => void }[] = [];

  constructor(server: Server, isTls = false) {
    this.#server = server;
    server.on(isTls ? 'secureConnection' : 'connection', (socket: Socket) => this.#accept(socket));
    // A client that breaks off the handshake has nothing to say.
    server.on('tlsClientError', () => {});
  }

  /** `http://127.0.0.1:port` */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Forgets everything, and answers the next requests with these, in order. */
  script(...answers: readonly Answer[]): void {
    this.requests.length = 0;
    this.exchanges.length = 0;
    this.#script = [...answers];
    this.#otherwise = (exchange) => exchange.cut();
  }

  /** Answers every request for which the script has nothing. */
  always(answer: Answer): void {
    this.script();
    this.#otherwise = answer;
  }

  /** The `count`-th request since `script`, counted from 1, as soon as it is there. */
  arrived(count: number): Promise<Exchange> {
    const there = this.exchanges[count - 1];
    if (there) return Promise.resolve(there);
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  /** Closes all connections, as a restart does, and goes on listening. */
  dropConnections(): Promise<unknown> {
    const closing = [...this.#sockets].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const socket of this.#sockets) socket.destroy();
    return Promise.all(closing);
  }

  async stop(): Promise<void> {
    const stopped = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await stopped;
  }

  #accept(socket: Socket): void {
    const connection = this.connections++;
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    const closed = new Promise<void>((resolve) => {
      socket.on('close', () => {
        this.#sockets.delete(socket);
        resolve();
      });
    });
    // A peer that resets its connection is part of many scripts.
    socket.on('error', () => {});
    let buffer: Buffer = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      buffer = Buffer.concat([buffer, bytes]);
      for (;;) {
        const parsed = readRequest(buffer, connection);
        if (!parsed) return;
        buffer = buffer.subarray(parsed.length);
        this.#answer(new Exchange(parsed.request, socket, closed));
      }
    });
  }

  #answer(exchange: Exchange): void {
    this.requests.push(exchange.request);
    this.exchanges.push(exchange);
    const answer = this.#script.shift() ?? this.#otherwise;
    answer(exchange);
    const due = this.#waiting.filter(({ count }) => count <= this.exchanges.length);
    this.#waiting = this.#waiting.filter((entry) => !due.includes(entry));
    for (const { count, resolve } of due) resolve(this.exchanges[count - 1] ?? exchange);
  }
}

/** Starts an upstream on a free loopback port; with a certificate, one that speaks TLS. */
export function startUpstream(tls?: TlsOptions): Promise<ScriptedUpstream> {
  return new Promise((resolve) => {
    const server = tls ? createTlsServer(tls) : createServer();
    const upstream = new ScriptedUpstream(server, tls !== undefined);
    server.listen(0, '127.0.0.1', 8192, () => resolve(upstream));
  });
}

/** An address at which nobody listens: a port that is only given to who asks for it by number. */
export const DEAD_ORIGIN = 'http://127.0.0.1:1';

function readRequest(buffer: Buffer, connection: number): { request: Arrived; length: number } | null {
  const end = buffer.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [first = '', ...lines] = buffer.toString('latin1', 0, end).split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = end + 4 + Number(headers['content-length'] ?? 0);
  if (buffer.length < length) return null;
  const text = buffer.toString('utf8', end + 4, length);
  return {
    request: {
      method,
      path,
      headers,
      text,
      json: /^\s*[[{]/.test(text) ? JSON.parse(text) : null,
      connection,
    },
    length,
  };
}
