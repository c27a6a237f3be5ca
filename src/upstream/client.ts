// Opens all upstream connections: HTTP/1.1 over pooled keep-alive sockets, pushed to a listener without a promise per
// chunk. Why not fetch: docs/dependencies.md ("What we wrote ourselves").
import { type Clock, systemClock } from '../base/runtime/clock.ts';
import { bytesIn, type Slices } from '../base/lib/bytes.ts';
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
  /** Pool of connections to use. Absent: a new connection, which is closed afterwards. */
  readonly pool?: PoolName | undefined;
  /**
   * Behaviour when a reused connection turns out to be closed. Absent: the request is sent again on a new connection.
   * `tell`: fails as `stale`. `fresh`: always uses a new connection.
   */
  readonly staleness?: 'tell' | 'fresh' | undefined;
  /** Additional header lines of this request, each with its line end; names must differ from the destination's. */
  readonly lines?: string | undefined;
  /** Gateway key that the request is sent for. */
  readonly tenant?: string | undefined;
}

export interface ClientOptions {
  /** Read each time, because a reload may change it. */
  readonly reuse?: () => ReuseSettings;
  /** Called when unsolicited bytes arrived. */
  readonly onUnsolicited?: (name: PoolName) => void;
  /** Network settings of requests without a network route. Read each time; returns the same object until it changes. */
  readonly network?: () => Network;
  /** Unix milliseconds of the wall clock. Default: `now`. */
  readonly wall?: () => UnixMs;
  /** Timer for closing idle connections. Default: the system's. */
  readonly every?: Clock['every'];
}

/** Sends requests, with a default network route. */
export type Sender = Pick<UpstreamClient, 'send' | 'now' | 'wall'> & {
  readonly networkRoute?: NetworkRoute | undefined;
};

export class UpstreamClient {
  /** @internal */
  readonly pools: ConnectionPools;
  readonly #network: () => Network;
  readonly #outbox = new Outbox();
  /** Monotonic milliseconds, for durations. @internal */
  readonly now: () => UnixMs;
  /** Unix milliseconds, for signatures and expiry times. @internal */
  readonly wall: () => UnixMs;

  /** @param now monotonic milliseconds */
  constructor(now: () => UnixMs, options: ClientOptions = {}) {
    const { reuse = () => DEFAULT_REUSE, onUnsolicited = () => {}, network = () => PLAIN_NETWORK } = options;
    this.now = now;
    this.wall = options.wall ?? now;
    this.#network = network;
    const { every = systemClock.every } = options;
    this.pools = new ConnectionPools({ now, settings: reuse, onUnsolicited, every });
  }

  /** Sends a request. Failures reach the listener; only an invalid URL throws (TypeError). */
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
  // An empty body only needs a length for methods that expect content (RFC 9110 section 8.6).
  const length = body.length === 0 && to.method !== 'POST' ? '' : `content-length: ${bytesIn(body)}\r\n`;
  return [Buffer.from(`${opening}${lines}${length}\r\n`, 'latin1'), ...body];
}

// Exchange: one request and its answer, as the sender sees them.

/**
 * `stale`: a reused connection was closed before any answer. The peer most likely closed it while the request was in
 * transit, but may have received it.
 */
export type TransportFailure = 'connect' | 'stale' | 'reset' | 'cut' | 'protocol';

export interface UpstreamListener {
  /** Called immediately before the first byte of the request is sent. */
  connected(): void;
  head(head: ResponseHead): void;
  /** At most one call per read. */
  data(bytes: Buffer): void;
  end(): void;
  /** Exactly one of `end` and `failed` is called, unless the call was aborted. */
  failed(failure: TransportFailure, message: string): void;
}

export interface UpstreamCall {
  /** Closes the connection; the listener is not called again. */
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

/** One request and its response. May move from a stale connection to a new one, unless that is reported. */
export class Exchange implements UpstreamCall {
  /** The whole request. Emptied once an answer has begun, because it cannot be sent again. */
  bytes: Slices;
  readonly listener: UpstreamListener;
  /** True: the sender is notified each time the request is sent. */
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

// Destination of similar requests, with a serialised request head that is reused.

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface DestinationInput {
  /** Absolute; http or https. */
  readonly url: string;
  /** Default: POST. */
  readonly method?: Method | undefined;
  /** Header names in lower case; values must not contain control characters. */
  readonly headers: Readonly<Record<string, string>>;
  /** IP address to connect to. Undefined: the host name is resolved. */
  readonly address?: string | undefined;
  /** Network route, if not the default. */
  readonly networkRoute?: NetworkRoute | undefined;
}

/** Beginning of a request on one network. */
export interface Opening {
  readonly address: Address;
  /** Request line and headers, except the length and the blank line. */
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

  /** @throws TypeError for a header value with line breaks */
  constructor({ url, method = 'POST', headers, address, networkRoute }: DestinationInput) {
    this.url = url;
    this.method = method;
    this.headers = headers;
    this.networkRoute = networkRoute;
    this.#address = address;
    this.#lines = headerLines(headers);
  }

  /**
   * Beginning of a request.
   * @param network current settings: the same object until they change
   * @throws TypeError for an invalid URL
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
    // A line break in a value would allow header injection.
    if (/[\r\n\0]/.test(value)) throw new TypeError(`illegal character in header ${name}`);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
