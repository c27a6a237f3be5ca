// The one place that opens upstream connections: HTTP/1.1 over pooled keep-alive sockets, pushed to a listener
// without a promise per chunk. Why not fetch: docs/dependencies.md ("What we wrote ourselves").
import {
  connectSocket,
  type ClientSocket,
  type SocketListener,
  type SocketTarget,
} from '../runtime/socket.ts';
import { ResponseParser, type ResponseEvents, type ResponseHead } from './response-parser.ts';

export interface UpstreamRequest {
  /** POST unless it says otherwise. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | undefined;
  /** Absolute; http or https. */
  readonly url: string;
  /** The IP address to connect to, if not wherever the name of the host leads. */
  readonly address?: string | undefined;
  /** Header names in lower case; values must not contain control characters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Byte string. */
  readonly body: string;
  readonly ca?: string | undefined;
}

export type TransportFailure = 'connect' | 'reset' | 'cut' | 'protocol';

export interface UpstreamListener {
  /** The request has been handed to a connection. */
  connected(): void;
  head(head: ResponseHead): void;
  /** Byte string; at most one call per read. */
  data(bytes: string): void;
  end(): void;
  /** Exactly one of `end` and `failed` is called, unless the call was aborted. */
  failed(failure: TransportFailure, message: string): void;
}

export interface UpstreamCall {
  /** Closes the connection; the listener hears nothing more. */
  abort(): void;
  pause(): void;
  resume(): void;
}

/** Seconds that an idle connection is kept. Shorter than the idle limit of common servers and balancers. */
const IDLE_SECONDS = 30;
const MAX_IDLE_PER_ORIGIN = 512;
/** How soon a connection that was closed while idle is noticed: a few round trips. */
const STALE_MS = 1_000;
/** Most addresses that are remembered: a model's name may be part of one, and clients may make up names. */
const MAX_ADDRESSES = 10_000;

/** A URL taken apart. */
interface Address {
  readonly origin: string;
  readonly target: SocketTarget;
  /** Request line and `host` header. */
  readonly start: string;
}

export class UpstreamClient {
  readonly #idle = new Map<string, Connection[]>();
  /** By URL. There are about as many as endpoints. */
  readonly #addresses = new Map<string, Address>();
  /** Unix milliseconds. @internal */
  readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  /** Sends a request. Failures reach the listener; only a URL that is none is thrown back (TypeError). */
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const address = this.#address(request);
    const { origin } = address;
    const exchange = new Exchange(serialise(address.start, request), listener);
    const idle = this.#idle.get(origin)?.pop();
    if (idle) idle.begin(exchange, true);
    else new Connection(this, origin, { ...address.target, ca: request.ca }).begin(exchange, false);
    return exchange;
  }

  #address({ url, method = 'POST', address: ip }: UpstreamRequest): Address {
    // Only those of endpoints come again.
    if (method !== 'POST' || ip !== undefined) return addressOf(new URL(url), method, ip);
    let address = this.#addresses.get(url);
    if (!address) {
      address = addressOf(new URL(url), method);
      if (this.#addresses.size >= MAX_ADDRESSES) this.#addresses.clear();
      this.#addresses.set(url, address);
    }
    return address;
  }

  /** Keeps a connection for the next request. @internal */
  keep(origin: string, connection: Connection): boolean {
    const list = this.#idle.get(origin) ?? [];
    this.#idle.set(origin, list);
    if (list.length >= MAX_IDLE_PER_ORIGIN) return false;
    list.push(connection);
    return true;
  }

  /** Forgets a connection that was closed. @internal */
  forget(origin: string, connection: Connection): void {
    const list = this.#idle.get(origin);
    const at = list?.indexOf(connection) ?? -1;
    if (list && at >= 0) list.splice(at, 1);
  }

  /** Closes every idle connection. */
  close(): void {
    for (const list of this.#idle.values()) for (const connection of list.splice(0)) connection.terminate();
  }
}

/** One request and its response; survives the change of a stale connection for a fresh one. */
class Exchange implements UpstreamCall {
  /** The whole request; empty once an answer has begun, when it can no longer be sent again. */
  bytes: string;
  readonly listener: UpstreamListener;
  connection: Connection | undefined;
  paused = false;
  aborted = false;

  constructor(bytes: string, listener: UpstreamListener) {
    this.bytes = bytes;
    this.listener = listener;
  }

  abort(): void {
    this.aborted = true;
    this.connection?.terminate();
  }

  pause(): void {
    if (this.paused) return;
    this.paused = true;
    this.connection?.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.connection?.resume();
  }
}

class Connection implements SocketListener, ResponseEvents {
  readonly #client: UpstreamClient;
  readonly #origin: string;
  readonly #target: SocketTarget;
  #socket: ClientSocket | undefined;
  #abandon: (() => void) | undefined;
  #exchange: Exchange | undefined;
  #parser: ResponseParser | undefined;
  #unsent = '';
  #reused = false;
  #heard = false;
  #startedAt = 0;

  constructor(client: UpstreamClient, origin: string, target: SocketTarget) {
    this.#client = client;
    this.#origin = origin;
    this.#target = target;
  }

  begin(exchange: Exchange, reused: boolean): void {
    this.#exchange = exchange;
    this.#reused = reused;
    this.#startedAt = this.#client.now();
    this.#heard = false;
    exchange.connection = this;
    if (this.#socket) this.#start(this.#socket, exchange);
    else this.#connect();
  }

  terminate(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (exchange) exchange.connection = undefined;
    this.#abandon?.();
    this.#socket?.terminate();
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  #connect(): void {
    this.#abandon = connectSocket(this.#target, this);
  }

  // What the socket tells.

  open(socket: ClientSocket): void {
    this.#abandon = undefined;
    this.#socket = socket;
    if (this.#exchange) this.#start(socket, this.#exchange);
    else socket.terminate();
  }

  drain(): void {
    this.#flush();
  }

  closed(reason: string | undefined): void {
    this.#closed(this.#socket !== undefined, reason);
  }

  // What the response parser finds; it only runs while there is an exchange.

  head(head: ResponseHead): void {
    this.#exchange?.listener.head(head);
  }

  body(bytes: string): void {
    this.#exchange?.listener.data(bytes);
  }

  end(reusable: boolean): void {
    if (this.#exchange) this.#finish(this.#exchange, reusable);
  }

  #start(socket: ClientSocket, exchange: Exchange): void {
    socket.idleTimeout(0);
    this.#parser = new ResponseParser(this);
    this.#unsent = exchange.bytes;
    exchange.listener.connected();
    if (exchange.aborted) return;
    if (exchange.paused) socket.pause();
    this.#flush();
  }

  #flush(): void {
    if (this.#unsent === '' || !this.#socket) return;
    const taken = this.#socket.write(this.#unsent);
    if (taken > 0) this.#unsent = taken >= this.#unsent.length ? '' : this.#unsent.slice(taken);
  }

  /** One read of the socket. */
  data(bytes: string): void {
    const exchange = this.#exchange;
    // Bytes on an idle connection belong to no request: the peer is confused.
    if (!exchange || !this.#parser) return this.terminate();
    if (!this.#heard) {
      this.#heard = true;
      exchange.bytes = '';
    }
    try {
      this.#parser.push(bytes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.terminate();
      exchange.listener.failed('protocol', error.message);
    }
  }

  #finish(exchange: Exchange, reusable: boolean): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = undefined;
    this.#parser = undefined;
    exchange.connection = undefined;
    if (exchange.paused) this.#socket?.resume();
    if (reusable && this.#unsent === '' && this.#client.keep(this.#origin, this))
      this.#socket?.idleTimeout(IDLE_SECONDS);
    else this.terminate();
    exchange.listener.end();
  }

  #closed(opened: boolean, reason: string | undefined): void {
    const exchange = this.#exchange;
    this.#socket = undefined;
    this.#client.forget(this.#origin, this);
    if (!exchange) return;
    this.#unsent = '';
    if (this.#reused && !this.#heard && this.#client.now() - this.#startedAt <= STALE_MS) {
      // The peer closed an idle connection while the request was on its way to it. Once more, on a fresh one. Later
      // than that, it may have read the request and worked on it: sending it again could be paid for twice.
      new Connection(this.#client, this.#origin, this.#target).begin(exchange, false);
      return;
    }
    if (this.#parser?.close()) return;
    this.#exchange = undefined;
    exchange.connection = undefined;
    if (!opened) exchange.listener.failed('connect', reason ?? 'connection refused');
    else if (!this.#heard)
      exchange.listener.failed('reset', reason ?? 'the connection was closed before an answer came');
    else exchange.listener.failed('cut', reason ?? 'the connection was closed in the middle of the answer');
  }
}

function addressOf(url: URL, method: string, ip?: string): Address {
  const tls = url.protocol === 'https:';
  return {
    // A connection that was made to a chosen address is nobody's who lets the name lead.
    origin: ip === undefined ? url.origin : `${url.origin} ${ip}`,
    target: {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (tls ? 443 : 80) : Number(url.port),
      tls,
      address: ip,
    },
    start: `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`,
  };
}

/** Header lines by the object they were made from: callers send the same object with every request to an endpoint. */
const headerLines = new WeakMap<UpstreamRequest['headers'], string>();

function serialise(start: string, { headers, body }: UpstreamRequest): string {
  let lines = headerLines.get(headers);
  if (lines === undefined) {
    lines = '';
    for (const name in headers) {
      const value = headers[name] ?? '';
      // A line break in a value would let its author write headers of their own.
      if (/[\r\n\0]/.test(value)) throw new TypeError(`illegal character in header ${name}`);
      lines += `${name}: ${value}\r\n`;
    }
    headerLines.set(headers, lines);
  }
  // A length of nothing is only said where something is expected (RFC 9110 section 8.6).
  const length = body === '' && !start.startsWith('POST') ? '' : `content-length: ${body.length}\r\n`;
  return `${start}${lines}${length}\r\n${body}`;
}
