// One WebSocket connection to `/responses`: its lanes, queue and closing. Turns of a lane run one after the other,
// lanes run concurrently. Enforces the limits of a connection (OpenAI guide "WebSocket mode", 2026-11).
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { ApiCall, TurnMemory } from '../../engine/index.ts';
import type { MessageSocket, SocketListener } from '../../base/runtime/http-server.ts';
import { keepingProtocol } from '../../protocols/index.ts';
import { ConnectionMemory } from '../body/connection-memory.ts';
import type { MemoryAccount } from '../body/memory-budget.ts';
import type { OneByOne } from '../body/one-by-one.ts';
import { laneOf, readMessage, type CreateMessage } from './socket-message.ts';
import { socketError, SocketTurn } from './socket-turn.ts';
import type { ReplyDependencies } from '../reply.ts';
import { bytesOfJson, jsonBytes } from '../../base/json/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** Maximum concurrent turns of a connection; further ones are queued. */
const MAX_RUNNING = 16;
/** Maximum queued turns. */
const MAX_WAITING = 64;
/** Maximum lane names of a connection. */
const MAX_NAMED_LANES = 32;
/** Time for which a connection accepts new turns, in milliseconds. */
const MAX_AGE_MS = 3_600_000;

/** Messages up to this size are read immediately if the queue is empty. */
const SMALL_BYTES = 64 * 1024;

/** Request line of every turn: that of the connection. */
const OPENED = { method: 'GET', url: '/v1/responses' } as const;

/** Codes of RFC 6455, section 7.4.1. */
const CLOSE = { done: 1000, goingAway: 1001, tooBig: 1009, tryAgain: 1013 } as const;

export interface SocketDependencies extends ReplyDependencies {
  /** Answers a turn. Never rejects. */
  readonly serve: (call: ApiCall) => Promise<void>;
  /** Answers a turn with `generate: false`. */
  readonly warmUp: (call: ApiCall & { readonly memory: TurnMemory }) => Promise<void>;
  readonly maxBodyBytes: () => number;
  /** Queue shared by all connections: one large message is read per turn of the event loop. */
  readonly readers: OneByOne;
}

/** A message that was received but not read. */
interface Arrived {
  readonly message: string | Uint8Array;
  readonly bytes: number;
  readonly hold: MemoryAccount;
}

interface Waiting extends CreateMessage {
  readonly lane: string;
  readonly bytes: number;
  /** Memory account of the message until its turn has ended. */
  readonly hold: MemoryAccount;
}

export class ResponsesSocket implements SocketListener {
  readonly #deps: SocketDependencies;
  readonly #headers: Headers;
  readonly #keyId: string;
  readonly #memory: ConnectionMemory;
  /** Memory account of output that the client has not read. */
  readonly #unread: MemoryAccount;
  readonly #openedAt: UnixMs;
  readonly #ended: () => void;
  readonly #names = new Set<string>();
  /** The running turn of each lane; '' is the unnamed lane. */
  readonly #running = new Map<string, SocketTurn>();
  /** Both in order of arrival. */
  readonly #arrived: Arrived[] = [];
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #socket: MessageSocket | undefined;
  /** Set once no new turn may begin: the code with which the connection closes when it is idle. */
  #closing: number | undefined;

  /**
   * @param headers of the handshake, used as the headers of every turn
   * @param keyId key of the connection, whose memory limit applies
   * @param ended called once, when the connection is closed
   */
  constructor(deps: SocketDependencies, headers: Headers, keyId: string, ended: () => void) {
    this.#deps = deps;
    this.#keyId = keyId;
    this.#unread = deps.memory.open(keyId);
    this.#headers = new Headers(headers);
    // One idempotency key for all turns would replay the first answer for each.
    this.#headers.delete('idempotency-key');
    this.#memory = new ConnectionMemory(deps.maxBodyBytes(), deps.memory.open(keyId));
    this.#openedAt = deps.now();
    this.#ended = ended;
  }

  opened(socket: MessageSocket): void {
    this.#socket = socket;
    if (this.#closing !== undefined) this.#close(this.#closing);
  }

  message(message: string | Uint8Array): void {
    const bytes = typeof message === 'string' ? Buffer.byteLength(message) : message.length;
    const limit = this.#deps.maxBodyBytes();
    if (bytes > limit) {
      const reason = `a message must have at most ${limit} bytes (server.body_limit_mb)`;
      return this.#socket?.close(CLOSE.tooBig, reason);
    }
    const hold = this.#deps.memory.open(this.#keyId);
    try {
      if (this.#arrived.length >= MAX_WAITING) throw queueFull();
      hold.add(bytes);
    } catch (thrown) {
      hold.release();
      return this.#turnOf(laneOf(message)).refuse(...socketError(this.#known(thrown)));
    }
    const arrived = { message, bytes, hold };
    if (bytes <= SMALL_BYTES && this.#arrived.length === 0) return this.#read(arrived);
    if (this.#arrived.push(arrived) === 1) this.#deps.readers.add(this.#readNext);
  }

  /** Reads the first received message. The next one is read after those of other connections. */
  readonly #readNext = (): void => {
    const first = this.#arrived.shift();
    if (!first) return;
    if (this.#arrived.length > 0) this.#deps.readers.add(this.#readNext);
    this.#read(first);
  };

  #read({ message, bytes, hold }: Arrived): void {
    let create: CreateMessage | null | undefined;
    try {
      create = readMessage(message);
      if (!create) return hold.release();
      this.#admit(create, bytes);
      this.#waiting.push({ ...create, lane: create.streamId ?? '', bytes, hold });
      this.#waitingBytes += bytes;
      this.#startNext();
    } catch (thrown) {
      hold.release();
      const lane = create ? create.streamId : laneOf(message);
      this.#turnOf(lane).refuse(...socketError(this.#known(thrown)));
      if (this.#closing !== undefined) this.#closeIfIdle();
    }
  }

  drained(): void {
    this.#unread.set(0);
    for (const turn of this.#running.values()) turn.drained();
  }

  closed(): void {
    this.#socket = undefined;
    this.#closing ??= CLOSE.done;
    for (const { hold } of this.#arrived.splice(0)) hold.release();
    this.#forgetWaiting();
    this.#unread.release();
    this.#memory.clear();
    for (const turn of this.#running.values()) turn.leave();
    this.#ended();
  }

  /** Stops accepting turns and closes the connection once it is idle. */
  drain(): void {
    this.#closing = CLOSE.goingAway;
    for (const { streamId } of this.#forgetWaiting())
      this.#turnOf(streamId).refuse(...socketError(goingAway()));
    this.#closeIfIdle();
  }

  /** @returns the queued turns, which will not run */
  #forgetWaiting(): readonly Waiting[] {
    const waited = this.#waiting.splice(0);
    this.#waitingBytes = 0;
    for (const { hold } of waited) hold.release();
    return waited;
  }

  /** Throws GatewayError for a turn that cannot be queued. */
  #admit({ streamId }: CreateMessage, bytes: number): void {
    if (this.#closing === CLOSE.goingAway) throw goingAway();
    if (this.#deps.now() - this.#openedAt >= MAX_AGE_MS) {
      this.#closing = CLOSE.done;
      throw limitReached(
        'websocket_connection_limit_reached',
        'This connection has reached its limit of 60 minutes. Open a new one to continue.',
      );
    }
    if (
      this.#waiting.length >= MAX_WAITING ||
      (this.#waiting.length > 0 && this.#waitingBytes + bytes > this.#deps.maxBodyBytes())
    )
      throw queueFull();
    if (streamId === undefined || this.#names.has(streamId)) return;
    if (this.#names.size >= MAX_NAMED_LANES) {
      throw limitReached(
        'websocket_stream_limit_reached',
        `This connection has used ${MAX_NAMED_LANES} stream ids, which is the limit. Reuse one of them, or open another connection.`,
        'stream_id',
      );
    }
    this.#names.add(streamId);
  }

  /** Starts every turn that may run: the first of each idle lane. */
  #startNext(): void {
    for (let at = 0; at < this.#waiting.length && this.#running.size < MAX_RUNNING;) {
      const next = this.#waiting[at];
      if (!next || this.#running.has(next.lane)) {
        at += 1;
        continue;
      }
      this.#waiting.splice(at, 1);
      this.#waitingBytes -= next.bytes;
      const turn = this.#turnOf(next.streamId);
      this.#running.set(next.lane, turn);
      void this.#run(next, turn);
    }
  }

  /** Never rejects. */
  async #run({ lane, body, generate, hold }: Waiting, turn: SocketTurn): Promise<void> {
    const header = (name: string): string | null => this.#headers.get(name);
    const { previous_response_id: previous } = body;
    try {
      const call = {
        protocol: keepingProtocol,
        api: 'responses',
        // Checked for each turn, because the key may have been revoked.
        principal: this.#deps.authenticate(header),
        request: OPENED,
        body: jsonBytes(bytesOfJson(body)),
        json: body,
        header,
        headers: this.#headers,
        client: turn,
        account: hold,
        memory: this.#memory.of(lane),
      };
      await (generate ? this.#deps.serve(call) : this.#deps.warmUp(call));
    } catch (thrown) {
      turn.refuse(...socketError(this.#known(thrown)));
    }
    hold.release();
    if (turn.refused && typeof previous === 'string') this.#memory.forget(lane, previous);
    this.#running.delete(lane);
    this.#startNext();
    if (this.#closing !== undefined) this.#closeIfIdle();
  }

  #turnOf(streamId: string | undefined): SocketTurn {
    return new SocketTurn({ send: (text) => this.#send(text) }, streamId);
  }

  /** False: the socket applies backpressure. Unread output counts against the key's memory limit. */
  #send(text: string): boolean {
    const socket = this.#socket;
    if (!socket || socket.send(text)) return true;
    try {
      this.#unread.set(socket.waitingBytes());
    } catch {
      socket.close(CLOSE.tryAgain, 'the client reads too slowly: too much output is queued');
    }
    return false;
  }

  #closeIfIdle(): void {
    if (this.#running.size === 0 && this.#arrived.length === 0 && this.#closing !== undefined)
      this.#close(this.#closing);
  }

  #close(code: number): void {
    this.#socket?.close(code, code === CLOSE.goingAway ? TEXTS.shuttingDown : '');
  }

  #known(thrown: unknown): GatewayError {
    const error = GatewayError.from(thrown);
    if (error.kind === 'internal') this.#deps.log.error('a turn on a socket failed', { error: thrown });
    return error;
  }
}

function queueFull(): GatewayError {
  return new GatewayError(
    'rate_limited',
    'Too many turns are queued on this connection. Wait until one has ended.',
    { code: 'websocket_queue_full' },
  );
}

function goingAway(): GatewayError {
  return new GatewayError(
    'upstream_unavailable',
    'The gateway is shutting down. Try again on a new connection.',
  );
}

function limitReached(code: string, message: string, param?: string): GatewayError {
  return new GatewayError('invalid_request', message, { code, param });
}
