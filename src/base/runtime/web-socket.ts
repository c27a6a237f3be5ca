// Server side of WebSockets with Bun: size limits, pings and backpressure.

/** Peer of an upgraded connection. */
export interface MessageSocket {
  /** Sends one text message. False: the socket is full. `drained` is called when it can be written again. */
  send(text: string): boolean;
  /** Bytes that are buffered because the client does not read. */
  waitingBytes(): number;
  /** Sends all queued data and closes with a code of RFC 6455, section 7.4. Does nothing if it is already closed. */
  close(code: number, reason: string): void;
}

/** Listener of a connection. `closed` is the last call. */
export interface SocketListener {
  opened(socket: MessageSocket): void;
  /** @param message a text, or the bytes of a binary message */
  message(message: string | Uint8Array): void;
  drained(): void;
  closed(): void;
}

/** Upgrades a request's connection to a WebSocket. False: the request is not a valid handshake. */
export type Upgrade = (listener: SocketListener, headers: Readonly<Record<string, string>>) => boolean;

/**
 * Buffered bytes at which a client that does not read is disconnected. Upstreams are paused long before, but the last
 * events of an answer repeat all of its text several times.
 */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** Seconds without data or a pong after which a connection is closed. Bun sends a ping before. */
const IDLE_SECONDS = 120;

/** Handler for `Bun.serve`. @param maxBytes largest message; a larger one closes its connection with 1009 */
export function webSocketHandler(maxBytes: number): Bun.WebSocketHandler<SocketListener> {
  return {
    maxPayloadLength: maxBytes,
    backpressureLimit: MAX_WAITING_BYTES,
    closeOnBackpressureLimit: true,
    idleTimeout: IDLE_SECONDS,
    sendPings: true,
    // Off, because a few compressed bytes could expand to any size.
    perMessageDeflate: false,
    open: (ws) => ws.data.opened(new BunSocket(ws)),
    message: (ws, message) => ws.data.message(message),
    drain: (ws) => ws.data.drained(),
    close: (ws) => ws.data.closed(),
  };
}

class BunSocket implements MessageSocket {
  readonly #ws: Bun.ServerWebSocket<SocketListener>;

  constructor(ws: Bun.ServerWebSocket<SocketListener>) {
    this.#ws = ws;
  }

  send(text: string): boolean {
    // Negative: queued, because the socket is full. Zero: the connection is closed; `closed` is called for that.
    return this.#ws.sendText(text) >= 0;
  }

  waitingBytes(): number {
    return this.#ws.getBufferedAmount();
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }
}
