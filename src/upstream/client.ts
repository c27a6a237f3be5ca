// The one place that opens upstream connections: HTTP/1.1 over pooled keep-alive sockets, pushed to a listener
// without a promise per chunk. Why not fetch: docs/dependencies.md ("What we wrote ourselves").
import { type Clock, systemClock } from '../base/runtime/clock.ts';
import { bytesIn, type Slices } from '../base/lib/slices.ts';
import { type Address, addressOf } from './address.ts';
import { Connection, Outbox } from './connection.ts';
import { ConnectionPools, DEFAULT_REUSE, type PoolName, type ReuseSettings } from './connection-pools.ts';
import { type Network, PLAIN_NETWORK } from './network.ts';
import type { NetworkRoute } from './network-route.ts';
import type { ResponseHead } from './response-parser.ts';
import type { UnixMs } from '../base/units.ts';

export interface UpstreamRequest {
  readonly to: Destination;
  readonly body: Slices;
  /** Pool of connections that may be used. Absent: a new connection, which is closed afterwards. */
  readonly pool?: PoolName | undefined;
  /**
   * Whether it is sent again over a fresh connection when one that was used before turns out to be closed. Absent: yes,
   * in silence. `tell`: no, it fails as `stale`. `fresh`: it goes out over a fresh connection in any case.
   */
  readonly staleness?: 'tell' | 'fresh' | undefined;
  /** Further header lines of this request alone, each with its end; names must not be those of its destination. */
  readonly lines?: string | undefined;
  /** Key of the gateway on whose behalf it is sent. */
  readonly tenant?: string | undefined;
}

export interface ClientOptions {
  /** Asked each time, since a reload may change them. */
  readonly reuse?: () => ReuseSettings;
  /** Told when bytes came that nobody had asked for. */
  readonly stray?: (name: PoolName) => void;
  /** Network settings of requests without a network route. Asked each time; the same object until it changes. */
  readonly network?: () => Network;
  /** Unix milliseconds by the machine's clock. Default: `now`. */
  readonly wall?: () => UnixMs;
  /** For the looks at idle connections. Default: the system's. */
  readonly every?: Clock['every'];
}

/** Sender of requests, and the network route that they take unless they have one of their own. */
export type Sender = Pick<UpstreamClient, 'send' | 'now' | 'wall'> & {
  readonly networkRoute?: NetworkRoute | undefined;
};

export class UpstreamClient {
  /** @internal */
  readonly pools: ConnectionPools;
  readonly #network: () => Network;
  readonly #outbox = new Outbox();
  /** Milliseconds that only go forward: for durations. @internal */
  readonly now: () => UnixMs;
  /** Unix milliseconds: for signatures, and for what says when it expires. @internal */
  readonly wall: () => UnixMs;

  /** @param now milliseconds that only go forward */
  constructor(now: () => UnixMs, options: ClientOptions = {}) {
    const { reuse = () => DEFAULT_REUSE, stray = () => {}, network = () => PLAIN_NETWORK } = options;
    this.now = now;
    this.wall = options.wall ?? now;
    this.#network = network;
    const { every = systemClock.every } = options;
    this.pools = new ConnectionPools({ now, settings: reuse, stray, every });
  }

  /** Sends a request. Failures reach the listener; only a URL that is none is thrown back (TypeError). */
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const opening = request.to.over(this.#network());
    const bytes = serialise(opening.text, request);
    const exchange = new Exchange(bytes, listener, request.staleness === 'tell');
    const { pools } = this;
    const pool = pools.poolFor(request.pool, request.tenant);
    const idle = request.staleness === 'fresh' ? undefined : pools.take(pool, opening.address.origin);
    if (idle) idle.begin(exchange);
    else if (!pools.waitFor(pool, () => this.#begin(exchange, opening.address, request)))
      this.#begin(exchange, opening.address, request);
    return exchange;
  }

  #begin(exchange: Exchange, address: Address, { pool: name, tenant, staleness }: UpstreamRequest): void {
    if (exchange.aborted) return;
    const { pools, now } = this;
    const pool = pools.poolFor(name, tenant);
    const idle = staleness === 'fresh' ? undefined : pools.take(pool, address.origin);
    if (idle) idle.begin(exchange);
    else new Connection({ address, pools, pool, outbox: this.#outbox, now }).begin(exchange);
  }

  /** Closes every idle connection. */
  close(): void {
    this.pools.close();
  }
}

function serialise(opening: string, { to, body, lines = '' }: UpstreamRequest): Slices {
  // A length of nothing is only said where something is expected (RFC 9110 section 8.6).
  const length = body.length === 0 && to.method !== 'POST' ? '' : `content-length: ${bytesIn(body)}\r\n`;
  return [Buffer.from(`${opening}${lines}${length}\r\n`, 'latin1'), ...body];
}

// One request and its answer, as whoever sends it sees them. Knows no sockets.

/**
 * `stale`: a connection that had waited since an earlier request was closed before any answer came. The peer most likely
 * closed it while the request was on its way, and may have received it all the same.
 */
export type TransportFailure = 'connect' | 'stale' | 'reset' | 'cut' | 'protocol';

export interface UpstreamListener {
  /** The request goes out over its connection: called right before its first byte does. */
  connected(): void;
  head(head: ResponseHead): void;
  /** At most one call per read. */
  data(bytes: Buffer): void;
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

/** The part of its connection that an exchange uses. */
interface Carrier {
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** One request and its response; survives the change of a stale connection for a fresh one, unless that is to be told. */
export class Exchange implements UpstreamCall {
  /** The whole request; empty once an answer has begun, when it can no longer be sent again. */
  bytes: Slices;
  readonly listener: UpstreamListener;
  /** True: whoever sends it wants to know of every time that it goes out. */
  readonly isSendReported: boolean;
  connection: Carrier | undefined;
  paused = false;
  aborted = false;

  constructor(bytes: Slices, listener: UpstreamListener, isSendReported: boolean) {
    this.bytes = bytes;
    this.listener = listener;
    this.isSendReported = isSendReported;
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

// Destination of requests of one kind, with everything that stands before their bodies: written once, sent many
// times.

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface DestinationInput {
  /** Absolute; http or https. */
  readonly url: string;
  /** POST unless it says otherwise. */
  readonly method?: Method | undefined;
  /** Header names in lower case; values must not contain control characters. */
  readonly headers: Readonly<Record<string, string>>;
  /** The IP address to connect to, if not wherever the name of the host leads. */
  readonly address?: string | undefined;
  /** How the host is reached, where that is not as for everybody. */
  readonly networkRoute?: NetworkRoute | undefined;
}

/** How a request begins under one network. */
export interface Opening {
  readonly address: Address;
  /** Request line and headers, but for the length and the blank line. */
  readonly text: string;
}

export class Destination {
  readonly url: string;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly networkRoute: NetworkRoute | undefined;
  readonly #address: string | undefined;
  readonly #lines: string;
  #network: Network | undefined;
  #opening: Opening | undefined;

  /** @throws TypeError for a header whose value would end its line */
  constructor({ url, method = 'POST', headers, address, networkRoute }: DestinationInput) {
    this.url = url;
    this.method = method;
    this.headers = headers;
    this.networkRoute = networkRoute;
    this.#address = address;
    this.#lines = headerLines(headers);
  }

  /**
   * The beginning of a request.
   * @param network as it is now: the same object until it changes
   * @throws TypeError for a URL that is none
   */
  over(network: Network): Opening {
    if (this.#opening && this.#network === network) return this.#opening;
    const { url, method, networkRoute } = this;
    const address = addressOf({ url, method, address: this.#address, networkRoute }, network);
    this.#network = network;
    this.#opening = { address, text: address.start + this.#lines };
    return this.#opening;
  }
}

function headerLines(headers: DestinationInput['headers']): string {
  let lines = '';
  for (const name in headers) {
    const value = headers[name] ?? '';
    // A line break in a value would let its author write headers of their own.
    if (/[\r\n\0]/.test(value)) throw new TypeError(`illegal character in header ${name}`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
