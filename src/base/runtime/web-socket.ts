// Message sockets of this runtime. Owns what its WebSocket implementation asks for: limits, pings, and what a full
// socket means. Knows nothing of the messages.

/** The other end of a connection that was upgraded. */
export interface MessageSocket {
  /** Sends one text message. False: the socket is full; `drained` tells when it has room. */
  send(text: string): boolean;
  /** Bytes that wait for a client who does not read. */
  waitingBytes(): number;
  /** Sends what is still queued and closes with a code of RFC 6455, section 7.4. Nothing happens when it is closed. */
  close(code: number, reason: string): void;
}

/** Listener of a connection. Nothing is called after `closed`. */
export interface SocketListener {
  opened(socket: MessageSocket): void;
  /** @param message a text, or the bytes of a binary message */
  message(message: string | Uint8Array): void;
  drained(): void;
  closed(): void;
}

/** Turns a request's connection into a message socket. False: the request is no proper handshake. */
export type Upgrade = (listener: SocketListener, headers: Readonly<Record<string, string>>) => boolean;

/**
 * Bytes that wait for a client who does not read, after which it is given up. Upstreams pause long before; but an
 * answer's last events repeat all of it several times and come at once.
 */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** Seconds without a sign of life; the runtime asks for one by itself (a ping) before they are over. */
const IDLE_SECONDS = 120;

/** Handler for the runtime. @param maxBytes of one message; a longer one closes its connection with 1009 */
export function webSocketHandler(maxBytes: number): Bun.WebSocketHandler<SocketListener> {
  return {
    maxPayloadLength: maxBytes,
    backpressureLimit: MAX_WAITING_BYTES,
    closeOnBackpressureLimit: true,
    idleTimeout: IDLE_SECONDS,
    sendPings: true,
    // A message of a few bytes could become any number of them.
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
    // Negative: queued, for the socket is full. Zero: the connection is gone, which `closed` tells.
    return this.#ws.sendText(text) >= 0;
  }

  waitingBytes(): number {
    return this.#ws.getBufferedAmount();
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }
}
