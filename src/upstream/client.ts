// The one place that opens upstream connections: HTTP/1.1 over pooled keep-alive sockets, pushed to a listener
// without a promise per chunk. Why not fetch: docs/dependencies.md ("What we wrote ourselves").
import { Connection, type ConnectionPlace } from './connection.ts';
import { ConnectionPools, DEFAULT_REUSE, type PoolName, type ReuseSettings } from './connection-pools.ts';
import { Exchange, type UpstreamCall, type UpstreamListener } from './exchange.ts';

export type { TransportFailure, UpstreamCall, UpstreamListener } from './exchange.ts';

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
  /** Whose connections may be used. Absent: a new one, which is closed afterwards. */
  readonly pool?: PoolName | undefined;
  /**
   * Whether it is sent again over a fresh connection when one that was used before turns out to be closed. Absent: yes,
   * in silence. `tell`: no, it fails as `stale`. `fresh`: it goes out over a fresh connection in any case.
   */
  readonly staleness?: 'tell' | 'fresh' | undefined;
  /** Key of the gateway on whose behalf it is sent. */
  readonly tenant?: string | undefined;
}

export interface ClientOptions {
  /** Asked each time, since a reload may change them. */
  readonly reuse?: () => ReuseSettings;
  /** Told when bytes came that nobody had asked for. */
  readonly stray?: (name: PoolName) => void;
}

/** Most addresses that are remembered: a model's name may be part of one, and clients may make up names. */
const MAX_ADDRESSES = 10_000;

/** A URL taken apart. */
interface Address {
  readonly origin: string;
  readonly target: ConnectionPlace['target'];
  /** Request line and `host` header. */
  readonly start: string;
}

export class UpstreamClient {
  /** @internal */
  readonly pools: ConnectionPools;
  /** By URL. There are about as many as endpoints. */
  readonly #addresses = new Map<string, Address>();
  /** Unix milliseconds. @internal */
  readonly now: () => number;

  constructor(now: () => number, { reuse = () => DEFAULT_REUSE, stray = () => {} }: ClientOptions = {}) {
    this.now = now;
    this.pools = new ConnectionPools({ now, settings: reuse, stray });
  }

  /** Sends a request. Failures reach the listener; only a URL that is none is thrown back (TypeError). */
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const address = this.#address(request);
    const exchange = new Exchange(serialise(address.start, request), listener, request.staleness === 'tell');
    const { pools } = this;
    const pool = pools.poolFor(request.pool, request.tenant);
    const idle = request.staleness === 'fresh' ? undefined : pools.take(pool, address.origin);
    if (idle) idle.begin(exchange);
    else if (!pools.waitFor(pool, () => this.#begin(exchange, address, request)))
      this.#begin(exchange, address, request);
    return exchange;
  }

  #begin(
    exchange: Exchange,
    { origin, target }: Address,
    { pool: name, tenant, ca, staleness }: UpstreamRequest,
  ): void {
    if (exchange.aborted) return;
    const { pools, now } = this;
    const pool = pools.poolFor(name, tenant);
    const idle = staleness === 'fresh' ? undefined : pools.take(pool, origin);
    if (idle) idle.begin(exchange);
    else new Connection({ origin, target: { ...target, ca }, pools, pool, now }).begin(exchange);
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

  /** Closes every idle connection. */
  close(): void {
    this.pools.close();
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
