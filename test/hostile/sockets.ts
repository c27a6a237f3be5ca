// Both ends of HTTP/1.1 on bare sockets, with framing of their own: they send what no proper library would send, keep
// little of what comes, and look through all of it for what nobody may ever see. Know nothing of the gateway.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The key that the gateway has for its upstreams: it must reach no client. */
export const PROVIDER_KEY = 'sk-test-provider-0123456789abcdef';

/** Traces of the inside: the key of a provider, stacks, paths of sources. */
const NEVER_SEEN = [PROVIDER_KEY, '/src/', 'node_modules', 'at async ', 'file://'];
const LONGEST = Math.max(...NEVER_SEEN.map((each) => each.length));

/** Most that is kept of the beginning and of the end of what came. */
const KEPT = 64 * 1024;

export interface Answer {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body without its framing; cut after some 64 kB. */
  readonly text: string;
}

export interface RequestParts {
  readonly method?: string;
  readonly path?: string;
  readonly key?: string | null;
  readonly headers?: readonly string[];
}

const JSON_TYPE = 'content-type: application/json';

/** The bytes of a proper request. @param body null: none; an object is sent as JSON */
export function requestBytes(body: unknown, parts: RequestParts = {}): Buffer {
  const { method = body === null ? 'GET' : 'POST', path = '/v1/chat/completions' } = parts;
  const { key = ATTACKER_KEY, headers = [] } = parts;
  const bytes = body === null ? null : bytesOf(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: gateway',
    ...(key === null ? [] : [`authorization: Bearer ${key}`]),
    ...(bytes === null ? [] : [`content-length: ${bytes.length}`]),
    ...(bytes === null || headers.some((line) => line.startsWith('content-type')) ? [] : [JSON_TYPE]),
    ...headers,
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return bytes === null ? head : Buffer.concat([head, bytes]);
}

/** The key of the attacking client. */
export const ATTACKER_KEY = 'sk-test-attacker';

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** One connection to the gateway. It never rejects: a broken connection is an outcome. */
export class RawSocket {
  /** Bytes that came. */
  received = 0;
  /** Received texts that must never be seen. */
  readonly leaks: Set<string>;
  /** Settles when it stands, or is over before it did. */
  readonly connected: Promise<void>;
  readonly ended: Promise<void>;
  isEnded = false;
  readonly #socket: Socket;
  #head = '';
  #tail = '';
  #carry = '';
  #waiting: (() => void)[] = [];

  constructor(origin: string, leaks: Set<string> = new Set()) {
    const { hostname, port } = new URL(origin);
    this.leaks = leaks;
    this.#socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (bytes: Buffer) => this.#take(bytes));
    this.#socket.on('error', () => {});
    this.#socket.on('end', () => this.#socket.end());
    const stands = new Promise<void>((resolve) => this.#socket.once('connect', () => resolve()));
    this.ended = new Promise((resolve) =>
      this.#socket.once('close', () => {
        this.isEnded = true;
        this.#changed();
        resolve();
      }),
    );
    this.connected = Promise.race([stands, this.ended]);
  }

  /** The beginning of what came. */
  get text(): string {
    return this.#head;
  }

  /** The end of what came. */
  get tail(): string {
    return this.#tail;
  }

  /** Settles when the bytes are on their way, or the connection is over. */
  send(bytes: string | Uint8Array): Promise<void> {
    if (this.isEnded) return Promise.resolve();
    const sent = new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
    return Promise.race([sent, this.ended]);
  }

  /** Settles with true when this holds, or with false when the connection ends or the time is over before. */
  async until(holds: () => boolean, withinMs = 20_000): Promise<boolean> {
    if (holds()) return true;
    if (this.isEnded) return false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(holds()), withinMs);
      const look = (): void => {
        if (holds()) done(true);
        else if (this.isEnded) done(false);
      };
      const done = (result: boolean): void => {
        clearTimeout(timer);
        this.#waiting = this.#waiting.filter((each) => each !== look);
        resolve(result);
      };
      this.#waiting.push(look);
    });
  }

  /** The first answer of this connection, at its end. Statuses of 1xx do not count. */
  async answer(withinMs = 20_000): Promise<Answer> {
    await this.until(() => isWhole(this.#head, this.#tail), withinMs);
    return parse(this.#head);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Says that nothing more will be sent, and goes on reading. */
  halfClose(): void {
    this.#socket.end();
  }

  /** Goes away. */
  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.received += bytes.length;
    const text = bytes.toString('latin1');
    const seen = this.#carry + text;
    for (const secret of NEVER_SEEN) if (seen.includes(secret)) this.leaks.add(secret);
    this.#carry = seen.slice(-LONGEST);
    if (this.#head.length < KEPT) this.#head += text;
    this.#tail = (this.#tail + text).slice(-KEPT);
    this.#changed();
  }

  #changed(): void {
    for (const look of this.#waiting) look();
  }
}

const HEAD_END = '\r\n\r\n';

/** True when the first final answer is complete, as far as its framing says so. */
function isWhole(head: string, tail: string): boolean {
  const from = startOfFinal(head);
  const end = head.indexOf(HEAD_END, from);
  if (end < 0) return false;
  const announced = /^content-length: *(\d+)/im.exec(head.slice(from, end))?.[1];
  if (announced !== undefined) return head.length >= end + 4 + Math.min(Number(announced), KEPT / 2);
  if (/^transfer-encoding: *chunked/im.test(head.slice(from, end))) return tail.endsWith('\r\n0\r\n\r\n');
  return /^HTTP\/1.1 (204|304)/.test(head.slice(from));
}

function startOfFinal(text: string): number {
  let from = 0;
  while (/^HTTP\/1.1 1\d\d/.test(text.slice(from, from + 12))) from = text.indexOf(HEAD_END, from) + 4;
  return from;
}

function parse(received: string): Answer {
  const from = startOfFinal(received);
  const end = received.indexOf(HEAD_END, from);
  const [statusLine = '', ...lines] = received.slice(from, end < 0 ? undefined : end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = end < 0 ? '' : received.slice(end + 4);
  const text = headers['transfer-encoding'] === 'chunked' ? body.replace(/(^|\r\n)[0-9a-f]+\r\n/g, '') : body;
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(statusLine)?.[1] ?? 0), headers, text };
}

/** A request as it arrived at a hostile server. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, parsed; null where it is no JSON. */
  readonly json: Readonly<Record<string, unknown>> | null;
  /** The number of its connection, from 0. */
  readonly connection: number;
}

/** Answer of a hostile server. Nothing is framed unless a method says so. */
export class Reply {
  /** Settles when the other side has gone away. */
  readonly gone: Promise<void>;
  readonly #socket: Socket;

  /** @param gone settles when the connection is closed */
  constructor(socket: Socket, gone: Promise<void>) {
    this.#socket = socket;
    this.gone = gone;
  }

  /** Settles when the bytes are on their way. @returns false: nobody takes them any more */
  async raw(bytes: string | Uint8Array): Promise<boolean> {
    if (this.#socket.destroyed) return false;
    const sent = new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
    await Promise.race([sent, this.gone]);
    return !this.#socket.destroyed;
  }

  head(status: number, headers: Readonly<Record<string, string>> = {}): Promise<boolean> {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return this.raw(`HTTP/1.1 ${status} Hostile\r\n${lines.join('')}\r\n`);
  }

  /** A whole answer; anything but a string is sent as JSON. */
  whole(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Promise<boolean> {
    const bytes = bytesOf(body);
    const all = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers };
    void this.head(status, all);
    return this.raw(bytes);
  }

  /** Begins an event stream. */
  stream(headers: Readonly<Record<string, string>> = {}): Promise<boolean> {
    return this.head(200, {
      'content-type': 'text/event-stream',
      'transfer-encoding': 'chunked',
      ...headers,
    });
  }

  /** One HTTP chunk. */
  chunk(bytes: string | Uint8Array): Promise<boolean> {
    return this.raw(chunkOf(bytes));
  }

  /** Ends a chunked body. */
  end(): Promise<boolean> {
    return this.raw('0\r\n\r\n');
  }

  close(): void {
    this.#socket.end();
  }
}

/** Bytes as one HTTP chunk, to be sent many times. */
export function chunkOf(bytes: string | Uint8Array): Buffer {
  const data = Buffer.from(bytes as Uint8Array);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);
}

/** Sends the same bytes again and again until this many have gone out, or nobody takes them any more. */
export async function flood(reply: Reply, bytes: Uint8Array, most: number): Promise<void> {
  for (let sent = 0; sent < most; sent += bytes.length) if (!(await reply.raw(bytes))) return;
}

export type Answering = (asked: Asked, reply: Reply) => void | Promise<void>;

/** A server on the loopback interface that answers as the scenario of the moment says. */
export interface RawServer {
  readonly origin: string;
  answering: Answering;
  /** Requests that have arrived. */
  asked: number;
  stop(): Promise<void>;
}

export function startServer(): Promise<RawServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const listener = createServer((socket) => {
    const connection = connections++;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    void gone.then(() => sockets.delete(socket));
    readRequests(socket, (asked) => {
      server.asked++;
      void server.answering({ ...asked, connection }, new Reply(socket, gone));
    });
  });
  const server: RawServer = {
    origin: '',
    answering: (_, reply) => reply.close(),
    asked: 0,
    async stop() {
      const stopped = new Promise((resolve) => listener.close(resolve));
      for (const socket of sockets) socket.destroy();
      await stopped;
    },
  };
  return new Promise((resolve) => {
    listener.listen(0, '127.0.0.1', 8192, () =>
      resolve(
        Object.assign(server, { origin: `http://127.0.0.1:${(listener.address() as AddressInfo).port}` }),
      ),
    );
  });
}

/** Calls back for each whole request with a `content-length` or no body. */
function readRequests(socket: Socket, arrived: (asked: Omit<Asked, 'connection'>) => void): void {
  let pieces: Buffer[] = [];
  let size = 0;
  let wanted = 0;
  socket.on('data', (bytes: Buffer) => {
    pieces.push(bytes);
    size += bytes.length;
    while (size > 0 && size >= wanted) {
      const all = Buffer.concat(pieces, size);
      const end = all.indexOf(HEAD_END);
      const head = all.toString('latin1', 0, end < 0 ? 0 : end);
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      wanted = end < 0 ? size + 1 : end + 4 + length;
      pieces = [all];
      if (size < wanted) return;
      pieces = [all.subarray(wanted)];
      size -= wanted;
      arrived(requestOf(head, all.toString('utf8', end + 4, wanted)));
      wanted = 0;
    }
  });
}

function requestOf(head: string, body: string): Omit<Asked, 'connection'> {
  const [first = '', ...lines] = head.split('\r\n');
  const [method = '', path = ''] = first.split(' ');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const json = /^\s*\{/.test(body) ? (JSON.parse(body) as Record<string, unknown>) : null;
  return { method, path, headers, json };
}
