// One connection to an upstream and the exchange that it carries.
import { TEXTS } from '../canonical/index.ts';
import { beginning, behind, type Slices } from '../base/lib/bytes.ts';
import { type ClientSocket, connectSocket, type SocketListener } from '../base/runtime/socket.ts';
import type { Address } from './address.ts';
import type { ConnectionPools, Pool, PooledConnection } from './connection-pools.ts';
import type { Exchange } from './client.ts';
import {
  type ConnectionRest,
  type ResponseEvents,
  type ResponseHead,
  ResponseParser,
} from './response-parser.ts';
import { connectThrough, refusalWords } from './tunnel.ts';
import { nextTurn } from '../base/runtime/clock.ts';
import type { UnixMs } from '../base/units.ts';

/** Milliseconds within which a connection closed while idle is detected: a few round trips. */
const STALE_MS = 1_000;
/**
 * Status that some load balancers send before closing an idle connection (RFC 9110 section 15.5.9); it is not an
 * answer.
 */
const IDLE_TIMEOUT_RESPONSE = /^HTTP\/1\.[01] 408[ \r]/;

const NO_SLICES: Slices = [];
/** Buffer for joining slices, because the socket sends each write immediately and would wake the peer for each. */
const MEMORY = new Uint8Array(256 * 1024);

/** Target of a connection, and the pools that own it. */
export interface ConnectionPlace {
  readonly address: Address;
  readonly pools: ConnectionPools;
  readonly pool: Pool;
  readonly outbox: Outbox;
  readonly now: () => UnixMs;
}

export class Connection implements SocketListener, ResponseEvents, PooledConnection {
  readonly openedAt: UnixMs;
  readonly trust: number;
  requests = 0;
  isClosed = false;
  idleSince = 0;
  readonly #place: ConnectionPlace;
  #socket: ClientSocket | undefined;
  #abandon: (() => void) | undefined;
  #exchange: Exchange | undefined;
  #parser: ResponseParser | undefined;
  #unsent: Slices = NO_SLICES;
  /** True once the listener was told that the request is sent. */
  #isAnnounced = false;
  #hasReceived = false;
  #startedAt = 0;

  constructor(place: ConnectionPlace) {
    this.#place = place;
    this.openedAt = place.now();
    this.trust = place.pool.trust;
    place.pools.opened(this);
  }

  get pool(): Pool {
    return this.#place.pool;
  }

  get origin(): string {
    return this.#place.address.origin;
  }

  begin(exchange: Exchange): void {
    this.#exchange = exchange;
    this.requests++;
    this.#startedAt = this.#place.now();
    this.#hasReceived = false;
    exchange.connection = this;
    if (this.#socket) this.#start(this.#socket, exchange);
    else this.#abandon = this.#connect(this.#place.address);
  }

  #connect({ tunnel, target }: Address): () => void {
    return tunnel ? connectThrough(tunnel, target, this) : connectSocket(target, this);
  }

  terminate(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.isClosed = true;
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

  // Socket events.

  open(socket: ClientSocket): void {
    this.#abandon = undefined;
    this.#socket = socket;
    if (this.#exchange) this.#start(socket, this.#exchange);
    else socket.terminate();
  }

  drain(): void {
    this.flush();
  }

  closed(reason: string | undefined): void {
    this.#closed(this.#socket !== undefined, reason);
  }

  // Parser events, which only occur during an exchange.

  head(head: ResponseHead): void {
    const exchange = this.#exchange;
    if (!exchange) return;
    // An error may arrive before the whole request was read. A success cannot: it answers another request.
    if (this.#isReused && this.#unsent.length > 0 && head.status < 300) return this.#resend(exchange);
    const { forwarder } = this.#place.address;
    if (forwarder && head.status === 407) return this.#refused(exchange, refusalWords(forwarder, 407));
    exchange.bytes = NO_SLICES;
    exchange.listener.head(head);
  }

  body(bytes: Buffer): void {
    this.#exchange?.listener.data(bytes);
  }

  end(rest: ConnectionRest): void {
    if (this.#exchange) this.#finish(this.#exchange, rest);
  }

  get #isReused(): boolean {
    return this.requests > 1;
  }

  #start(socket: ClientSocket, exchange: Exchange): void {
    this.#parser = new ResponseParser(this);
    this.#unsent = exchange.bytes;
    this.#isAnnounced = false;
    if (exchange.paused) socket.pause();
    this.#place.outbox.add(this);
  }

  flush(): void {
    while (this.#unsent.length > 0 && this.#socket && !this.isClosed) {
      const piece = beginning(this.#unsent, MEMORY);
      // Right before it is written: a process that is killed in between is charged for what never went out.
      if (!this.#isAnnounced && !this.#announce()) return;
      const taken = this.#socket.write(piece);
      if (taken > 0) this.#unsent = behind(this.#unsent, taken);
      if (taken < piece.length) return;
    }
  }

  /** Handles one read of the socket. */
  data(bytes: Buffer): void {
    const exchange = this.#exchange;
    const parser = this.#parser;
    if (!exchange || !parser) return this.#onUnsolicited(bytes);
    this.#hasReceived = true;
    try {
      parser.push(bytes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.terminate();
      exchange.listener.failed('protocol', error.message);
    }
  }

  /** Bytes on an idle connection belong to no request. */
  #onUnsolicited(bytes: Buffer): void {
    if (!IDLE_TIMEOUT_RESPONSE.test(bytes.toString('latin1'))) this.#place.pools.stopReuse(this);
    this.terminate();
  }

  /** The received bytes do not answer this exchange, which is sent again on a new connection. */
  #resend(exchange: Exchange): void {
    this.#place.pools.stopReuse(this);
    this.terminate();
    this.#again(exchange, 'it received a response to another request');
  }

  /** The proxy responded itself: the upstream did not receive the request, and the proxy's page is not shown. */
  #refused(exchange: Exchange, words: string): void {
    this.terminate();
    exchange.listener.failed('connect', words);
  }

  /** @param reason for the error message */
  #again(exchange: Exchange, reason: string): void {
    if (exchange.isSendReported) {
      this.#exchange = undefined;
      exchange.connection = undefined;
      exchange.listener.failed('stale', reason);
      return;
    }
    new Connection(this.#place).begin(exchange);
  }

  /** Notifies the listener immediately before the first byte is sent. False: do not send. */
  #announce(): boolean {
    const exchange = this.#exchange;
    if (!exchange || exchange.aborted || !this.#socket || this.isClosed) return false;
    this.#isAnnounced = true;
    exchange.listener.connected();
    return !exchange.aborted;
  }

  #finish(exchange: Exchange, rest: ConnectionRest): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = undefined;
    this.#parser = undefined;
    exchange.connection = undefined;
    if (exchange.paused) this.#socket?.resume();
    const { pools } = this.#place;
    if (rest === 'stray') pools.stopReuse(this);
    const isKept = rest === 'keep' && this.#unsent.length === 0 && pools.keep(this);
    if (!isKept) this.terminate();
    exchange.listener.end();
  }

  #closed(opened: boolean, reason: string | undefined): void {
    const exchange = this.#exchange;
    this.#socket = undefined;
    this.#unsent = NO_SLICES;
    this.isClosed = true;
    // The peer closed an idle connection while the request was in transit, so it is sent again on a new one. Later than
    // that, the peer may have processed the request, and sending it again could be charged twice.
    const isStale = this.#isReused && !this.#hasReceived && this.#place.now() - this.#startedAt <= STALE_MS;
    if (exchange && isStale) this.#again(exchange, 'it was closed before a response arrived');
    this.#place.pools.closed(this);
    if (!exchange || isStale) return;
    if (this.#parser?.close()) return;
    this.#exchange = undefined;
    exchange.connection = undefined;
    if (!opened) exchange.listener.failed('connect', reason ?? 'connection refused');
    else if (!this.#hasReceived) exchange.listener.failed('reset', reason ?? TEXTS.closedBeforeResponse);
    else exchange.listener.failed('cut', reason ?? TEXTS.closedInResponse);
  }
}

// Outbox: sends the data of all requests of one turn of the event loop together at its end. Each write wakes its
// receiver, which costs several times the write itself if the receiver slept in between.

/** A connection with bytes to send. */
export interface Sending {
  flush(): void;
}

export class Outbox {
  #waiting: Sending[] = [];

  /** Schedules a flush at the end of this turn. */
  add(sending: Sending): void {
    if (this.#waiting.push(sending) === 1) nextTurn(this.#flush);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const sending of waiting) sending.flush();
  };
}
