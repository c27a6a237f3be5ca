// The one place that opens upstream connections: HTTP/1.1 over pooled keep-alive sockets, pushed to a listener
// without a promise per chunk. Why not fetch: docs/dependencies.md ("What we wrote ourselves").
import { type Address, addressOf } from './address.ts';
import { Connection } from './connection.ts';
import { ConnectionPools, DEFAULT_REUSE, type PoolName, type ReuseSettings } from './connection-pools.ts';
import { Exchange, type UpstreamCall, type UpstreamListener } from './exchange.ts';
import { type Network, PLAIN_NETWORK } from './network.ts';
import type { Road } from './road.ts';

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
  /** How the host is reached, where that is not as for everybody. */
  readonly road?: Road | undefined;
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
  /** What holds for requests without a road. Asked each time; the same object until it changes. */
  readonly network?: () => Network;
}

/** What sends requests. */
export type Sender = Pick<UpstreamClient, 'send' | 'now'>;

/** Most addresses that are remembered: a model's name may be part of one, and clients may make up names. */
const MAX_ADDRESSES = 10_000;

export class UpstreamClient {
  /** @internal */
  readonly pools: ConnectionPools;
  readonly #network: () => Network;
  /** For which addresses are remembered. */
  #known: Network = PLAIN_NETWORK;
  /** By URL. There are about as many as endpoints. */
  #addresses = new Map<string, Address>();
  /** Of those that have a road of their own. */
  #byRoad = new WeakMap<Road, Map<string, Address>>();
  /** Unix milliseconds. @internal */
  readonly now: () => number;

  constructor(now: () => number, options: ClientOptions = {}) {
    const { reuse = () => DEFAULT_REUSE, stray = () => {}, network = () => PLAIN_NETWORK } = options;
    this.now = now;
    this.#network = network;
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

  /** The same, whose requests take this road unless they say otherwise. */
  by(road: Road | undefined): Sender {
    if (!road) return this;
    return {
      now: this.now,
      send: (request, listener) => this.send({ ...request, road: request.road ?? road }, listener),
    };
  }

  #begin(exchange: Exchange, address: Address, { pool: name, tenant, staleness }: UpstreamRequest): void {
    if (exchange.aborted) return;
    const { pools, now } = this;
    const pool = pools.poolFor(name, tenant);
    const idle = staleness === 'fresh' ? undefined : pools.take(pool, address.origin);
    if (idle) idle.begin(exchange);
    else new Connection({ address, pools, pool, now }).begin(exchange);
  }

  #address({ url, method = 'POST', address: ip, road }: UpstreamRequest): Address {
    const network = this.#network();
    // Only those of endpoints come again.
    if (method !== 'POST' || ip !== undefined) return addressOf({ url, method, address: ip, road }, network);
    if (network !== this.#known) this.#forgetAddresses(network);
    const addresses = road ? this.#addressesBy(road) : this.#addresses;
    let address = addresses.get(url);
    if (!address) {
      address = addressOf({ url, method, road }, network);
      if (addresses.size >= MAX_ADDRESSES) addresses.clear();
      addresses.set(url, address);
    }
    return address;
  }

  #addressesBy(road: Road): Map<string, Address> {
    let addresses = this.#byRoad.get(road);
    if (!addresses) this.#byRoad.set(road, (addresses = new Map()));
    return addresses;
  }

  #forgetAddresses(network: Network): void {
    this.#known = network;
    this.#addresses = new Map();
    this.#byRoad = new WeakMap();
  }

  /** Closes every idle connection. */
  close(): void {
    this.pools.close();
  }
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
