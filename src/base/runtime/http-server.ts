// The HTTP server: the listening socket, and response bodies that are pushed. The only file that uses `Bun.serve`.
import { type Clock, nextTurn, systemClock } from './clock.ts';
import { type SocketListener, type Upgrade, webSocketHandler } from './web-socket.ts';

export type { MessageSocket, SocketListener } from './web-socket.ts';

/** Undefined: the connection was upgraded. */
export type Answer = Response | undefined;

/** Connection of a request. */
export interface Connection {
  /** Disables the idle timeout until `enableIdleTimeout` is called. The handler has to watch the connection itself. */
  disableIdleTimeout(): void;
  /** Enables the idle timeout again. Call it before the response ends, so that it applies to the next request. */
  enableIdleTimeout(): void;
  /** Upgrades to a WebSocket; the handler then returns no response. False: the request is not a valid handshake. */
  upgrade: Upgrade;
  /** Address of the peer; null if it has left. Makes a system call, so do not use it for every request. */
  address(): string | null;
}

export type Handler = (request: Request, connection: Connection) => Answer | Promise<Answer>;

/** Seconds without a byte after which a connection is closed, so that slow senders cannot hold it forever. */
const IDLE_SECONDS = 60;
/** Milliseconds for which a replaced certificate is still served, while its connections end. */
const HANDOVER_MS = 5000;

/** A certificate with its intermediates, and its private key, as PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface ListenOptions {
  readonly hostname: string;
  /** 0: any free port. */
  readonly port: number;
  /** Bytes. Bun refuses larger bodies. */
  readonly maxBodyBytes: number;
  /** Largest WebSocket message in bytes. Bun joins fragments, and closes the connection at a larger message. */
  readonly maxMessageBytes?: number | undefined;
  /** Handlers of POST requests by exact path, or by prefix before a `*`. Bun matches them natively. */
  readonly hot: Readonly<Record<string, Handler>>;
  /** Handler of all other requests. */
  readonly fallback: Handler;
  /** Makes the response if a handler throws. Absent: an empty 500. */
  readonly failed?: ((thrown: unknown) => Response) | undefined;
  /** Serves HTTPS with this certificate, TLS 1.2 or later. Absent: plain HTTP. */
  readonly certificate?: Certificate | undefined;
  /** Clock for the replacement of certificates. Default: the system clock. */
  readonly clock?: Pick<Clock, 'after'> | undefined;
  /** True: other processes with this setting may listen at the same address (SO_REUSEPORT), and share its connections. */
  readonly isShared?: boolean | undefined;
  /** Seconds, at most 255. */
  readonly idleSeconds?: number | undefined;
}

export interface Listener {
  readonly hostname: string;
  readonly port: number;
  /** True for HTTPS. */
  readonly secure: boolean;
  /**
   * Replaces the certificate for new connections. For five seconds some still get the old one. Connections with the old one
   * end after their next response; running responses and WebSockets continue. Only for HTTPS; does nothing while draining.
   * @throws Error if Bun cannot use the certificate; the old one stays in use
   */
  certify(certificate: Certificate): void;
  /** Closes each connection after its next response from now on. New connections are still accepted. */
  leave(): void;
  /** Stops accepting connections, after those that the system has already accepted. Running requests continue. */
  drain(): Promise<void>;
  /** Closes every connection. */
  stop(): Promise<void>;
}

/** Opens the listening socket. @throws Error if the address is in use */
export function listen(options: ListenOptions): Listener {
  const idleSeconds = options.idleSeconds ?? IDLE_SECONDS;
  const share = new TurnShare();
  let leaves = false;
  const adapt = (handler: Handler) => {
    const answer = (request: Request, from: Bun.Server<SocketListener>): Answer | Promise<Answer> => {
      const made = handler(request, new BunConnection(request, from, idleSeconds));
      // Bun then reads no further requests; clients repeat them on another connection (RFC 9112, section 9.3.2).
      const isLast = leaves || (share.isBusyTurn() && share.isLast(from.requestIP(request)?.port));
      return isLast ? lastOnItsConnection(made) : made;
    };
    if (!options.certificate) return answer;
    return (request: Request, from: Bun.Server<SocketListener>): Answer | Promise<Answer> =>
      from === server ? answer(request, from) : lastOnItsConnection(answer(request, from));
  };
  const routes = Object.fromEntries(
    Object.entries(options.hot).map(([path, handler]) => [path, { POST: adapt(handler) }]),
  );
  const serve = (port: number, isShared: boolean, tls = options.certificate): Bun.Server<SocketListener> =>
    Bun.serve<SocketListener>({
      hostname: options.hostname,
      port,
      ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
      maxRequestBodySize: options.maxBodyBytes,
      idleTimeout: idleSeconds,
      // Bun's development error page would show stack traces, paths and the URL, and print them.
      development: false,
      // SO_REUSEPORT is off unless this is set.
      reusePort: isShared,
      error: options.failed ?? (() => new Response(null, { status: 500 })),
      routes,
      fetch: adapt(options.fallback),
      websocket: webSocketHandler(options.maxMessageBytes ?? options.maxBodyBytes),
    });
  let server = serve(options.port, options.isShared ?? false);
  if (options.certificate && options.isShared !== true) {
    // Bun cannot replace a certificate. A second server takes over the port, so both need SO_REUSEPORT. The first socket
    // was opened without sharing, to be sure that no other process uses the port.
    const port = server.port ?? options.port;
    void server.stop(true);
    server = serve(port, true);
  }
  // Servers with replaced certificates, each with a function that cancels its scheduled stop.
  const retiring = new Map<typeof server, () => void>();
  const retire = (old: typeof server): void => void old.stop(false).then(() => retiring.delete(old));
  let drains = false;
  return {
    hostname: options.hostname,
    port: server.port ?? options.port,
    secure: options.certificate !== undefined,
    certify(certificate) {
      if (drains) return;
      const old = server;
      server = serve(old.port ?? options.port, true, certificate);
      // Stopping it immediately would cut connections with a request in transit.
      retiring.set(
        old,
        (options.clock ?? systemClock).after(HANDOVER_MS, () => retire(old)),
      );
    },
    leave() {
      leaves = true;
    },
    async drain() {
      drains = true;
      // Connections in the system's queue are accepted at the start of a turn. Closing resets those that are left.
      await new Promise<void>((resolve) => nextTurn(resolve));
      void server.stop(false);
      for (const [old, cancel] of retiring) {
        cancel();
        retire(old);
      }
    },
    async stop() {
      for (const cancel of retiring.values()) cancel();
      await Promise.all([server, ...retiring.keys()].map((each) => each.stop(true)));
    },
  };
}

/** Makes Bun close the connection after this response. */
function lastOnItsConnection(answer: Answer | Promise<Answer>): Answer | Promise<Answer> {
  if (answer instanceof Promise) return answer.then(lastOnItsConnection);
  answer?.headers.set('connection', 'close');
  return answer;
}

class BunConnection implements Connection {
  readonly #request: Request;
  readonly #server: Bun.Server<SocketListener>;
  readonly #idleSeconds: number;

  constructor(request: Request, server: Bun.Server<SocketListener>, idleSeconds: number) {
    this.#request = request;
    this.#server = server;
    this.#idleSeconds = idleSeconds;
  }

  disableIdleTimeout(): void {
    this.#server.timeout(this.#request, 0);
  }

  enableIdleTimeout(): void {
    this.#server.timeout(this.#request, this.#idleSeconds);
  }

  upgrade(listener: SocketListener, headers: Readonly<Record<string, string>>): boolean {
    return this.#server.upgrade(this.#request, { data: listener, headers });
  }

  address(): string | null {
    return this.#server.requestIP(this.#request)?.address ?? null;
  }
}

/** A response body that is pushed, one socket write per call, with the socket's own backpressure. */
export interface PushBody {
  readonly stream: ReadableStream<Uint8Array>;
  /** False: the socket is full. `onDrain` is called when it can be written again. */
  write(data: string | Uint8Array): boolean;
  onDrain(drained: () => void): void;
  end(): void;
}

interface DirectController {
  write(data: string | Uint8Array): number | Promise<number>;
  flush(): void;
  end(): void;
}

/** Creates a body for `new Response(body.stream)`. */
export function pushBody(): PushBody {
  return new DirectBody();
}

class DirectBody implements PushBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: DirectController | undefined;
  #early: (string | Uint8Array)[] = [];
  #ended = false;
  #isClosed = false;
  #finish: (() => void) | undefined;
  #drained: (() => void) | undefined;

  constructor() {
    const source = {
      type: 'direct',
      pull: (controller: DirectController) => this.#pulled(controller),
      cancel: () => this.#cancelled(),
    };
    this.stream = new ReadableStream(source as unknown as UnderlyingDefaultSource<Uint8Array>);
  }

  write(data: string | Uint8Array): boolean {
    const controller = this.#controller;
    if (!controller) {
      if (!this.#isClosed) this.#early.push(data);
      return true;
    }
    const taken = controller.write(data);
    controller.flush();
    if (typeof taken === 'number') return true;
    // A promise means that the socket is full. It settles when the socket can be written again or the client has left.
    const drained = (): void => this.#drained?.();
    taken.then(drained, drained);
    return false;
  }

  onDrain(drained: () => void): void {
    this.#drained = drained;
  }

  end(): void {
    this.#ended = true;
    if (this.#controller) this.#close();
  }

  #pulled(controller: DirectController): Promise<void> | undefined {
    this.#controller = controller;
    for (const data of this.#early) this.write(data);
    this.#early = [];
    if (this.#ended) {
      this.#close();
      return undefined;
    }
    // The stream stays open until this promise settles.
    return new Promise((resolve) => (this.#finish = resolve));
  }

  #close(): void {
    this.#controller?.end();
    this.#controller = undefined;
    this.#finish?.();
  }

  #cancelled(): void {
    this.#isClosed = true;
    this.#controller = undefined;
    this.#finish?.();
  }
}

// Fairness between connections. Pipelined requests would all begin in the turn of the event loop in which they arrive, and
// delay everyone else.

/** Requests that may begin in one turn before their connections are compared. As many clients may arrive together. */
const BUSY_TURN = 32;
/** Consecutive requests of one connection that are served after that. */
const MOST_IN_A_ROW = 32;

class TurnShare {
  #begun = 0;
  #port: number | undefined;
  #inARow = 0;

  /** Counts a request. @returns true if more than `BUSY_TURN` requests have begun in this turn */
  isBusyTurn(): boolean {
    this.#begun += 1;
    if (this.#begun === BUSY_TURN) nextTurn(() => (this.#begun = this.#inARow = 0));
    return this.#begun > BUSY_TURN;
  }

  /**
   * Called for each request beyond `BUSY_TURN`.
   * @param port port of the peer, which identifies the connection; undefined if it has left
   * @returns true if this request must be the last on its connection
   */
  isLast(port: number | undefined): boolean {
    this.#inARow = port !== undefined && port === this.#port ? this.#inARow + 1 : 1;
    this.#port = port;
    return this.#inARow > MOST_IN_A_ROW;
  }
}
