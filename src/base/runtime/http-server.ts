// The listening socket and push-driven response bodies. The only file that knows how this runtime serves HTTP.
import { type Clock, nextTurn, systemClock } from './clock.ts';
import { type SocketListener, type Upgrade, webSocketHandler } from './web-socket.ts';

export type { MessageSocket, SocketListener } from './web-socket.ts';

/** Undefined: the connection was upgraded. */
export type Answer = Response | undefined;

/** The connection that a request came on. */
export interface Connection {
  /** Lifts the idle limit: from now on silence is the handler's own business, until `impatient`. */
  patient(): void;
  /** Puts the limit back. To be called before the end of the answer is handed over: it holds for what follows. */
  impatient(): void;
  /** Makes a WebSocket of it; the handler then answers nothing. False: the request is no proper handshake. */
  upgrade: Upgrade;
  /** The other end's address; null when it is gone. Asks the system: not for every request. */
  address(): string | null;
}

export type Handler = (request: Request, connection: Connection) => Answer | Promise<Answer>;

/** Seconds without a byte after which a connection is closed: slow senders must not hold one for ever. */
const IDLE_SECONDS = 60;
/** How long a certificate that was replaced is still shown, while its connections end one by one. */
const HANDOVER_MS = 5000;

/** PEM texts: a certificate with those between it and its authority, and its private key. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface ListenOptions {
  readonly hostname: string;
  /** 0: any free port. */
  readonly port: number;
  /** Bytes; larger bodies are refused by the runtime itself. */
  readonly maxBodyBytes: number;
  /** Bytes of one message on a WebSocket: the runtime gathers its pieces, and closes at a larger one. */
  readonly maxMessageBytes?: number | undefined;
  /** Handlers of exact paths, or of all that begin with what stands before a `*`, for POST: matched natively. */
  readonly hot: Readonly<Record<string, Handler>>;
  /** Everything else. */
  readonly fallback: Handler;
  /** The answer where a handler failed. Absent: a bare 500. */
  readonly failed?: ((thrown: unknown) => Response) | undefined;
  /** HTTPS with this certificate, TLS 1.2 or later (the runtime offers nothing older). Absent: plain HTTP. */
  readonly certificate?: Certificate | undefined;
  /** For the time in which certificates change. Default: the system's. */
  readonly clock?: Pick<Clock, 'after'> | undefined;
  /** Other processes that say the same may listen at this address, too: the system gives each its share of connections. */
  readonly isShared?: boolean | undefined;
  /** At most 255. */
  readonly idleSeconds?: number | undefined;
}

export interface Listener {
  readonly hostname: string;
  readonly port: number;
  /** Whether it speaks TLS. */
  readonly secure: boolean;
  /**
   * Shows this certificate to new connections; for five seconds some still get the old one. Connections under the old one
   * end behind their next answer; answers that run by then, and WebSockets, go on. Throws when the runtime cannot use it:
   * nothing has changed then. For a listener that speaks TLS only; nothing happens once it drains.
   */
  certify(certificate: Certificate): void;
  /** From now on each answer is the last on its connection; new ones are accepted as before. */
  leave(): void;
  /** Refuses new connections, as soon as those are taken that the system has accepted; running requests go on. Resolves then. */
  drain(): Promise<void>;
  /** Closes every connection. */
  stop(): Promise<void>;
}

/** Opens the listening socket. Throws when the address is taken. */
export function listen(options: ListenOptions): Listener {
  const idleSeconds = options.idleSeconds ?? IDLE_SECONDS;
  const share = new TurnShare();
  let leaves = false;
  const adapt = (handler: Handler) => {
    const answer = (request: Request, from: Bun.Server<SocketListener>): Answer | Promise<Answer> => {
      const made = handler(request, new BunConnection(request, from, idleSeconds));
      // The runtime then reads no more of them; clients send such requests again elsewhere (RFC 9112, section 9.3.2).
      const isLast = leaves || (share.isCrowded() && share.isLast(from.requestIP(request)?.port));
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
      // The runtime's own page for errors shows stacks, paths and the request's address, and prints them as well.
      development: false,
      // Ports are shared with no other process unless this is set.
      reusePort: isShared,
      error: options.failed ?? (() => new Response(null, { status: 500 })),
      routes,
      fetch: adapt(options.fallback),
      websocket: webSocketHandler(options.maxMessageBytes ?? options.maxBodyBytes),
    });
  let server = serve(options.port, options.isShared ?? false);
  if (options.certificate && options.isShared !== true) {
    // The runtime cannot change a certificate; a second server takes over the port, which both must be willing to share.
    // That nobody else has it was found out by asking for it alone.
    const port = server.port ?? options.port;
    void server.stop(true);
    server = serve(port, true);
  }
  // Servers with replaced certificates, each with how to call off its end.
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
      // At once, it would cut connections on which a request is on its way.
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
      // Connections that the system has accepted are taken at the beginning of a turn; later ones are reset by the close.
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

/** Lets the runtime close the connection behind this answer. */
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

  patient(): void {
    this.#server.timeout(this.#request, 0);
  }

  impatient(): void {
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
  /** False: the socket is full; `onDrain` tells when it has room. */
  write(data: string | Uint8Array): boolean;
  onDrain(drained: () => void): void;
  end(): void;
}

interface DirectController {
  write(data: string | Uint8Array): number | Promise<number>;
  flush(): void;
  end(): void;
}

/** Makes a body for `new Response(body.stream)`. */
export function pushBody(): PushBody {
  return new DirectBody();
}

class DirectBody implements PushBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: DirectController | undefined;
  #early: (string | Uint8Array)[] = [];
  #ended = false;
  #gone = false;
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
      if (!this.#gone) this.#early.push(data);
      return true;
    }
    const taken = controller.write(data);
    controller.flush();
    if (typeof taken === 'number') return true;
    // A promise means that the socket is full; it settles when there is room, or when the client left.
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
    // The stream stays open until this settles.
    return new Promise((resolve) => (this.#finish = resolve));
  }

  #close(): void {
    this.#controller?.end();
    this.#controller = undefined;
    this.#finish?.();
  }

  #cancelled(): void {
    this.#gone = true;
    this.#controller = undefined;
    this.#finish?.();
  }
}

// Share of a turn of the loop that one connection may take. A client that sends many requests at once, without waiting for
// answers, has them all begun in the turn in which they arrive, and everybody else waits for that. Knows no requests.

/** Requests that begin in one turn before anybody looks whose they are: so many clients may come together. */
const CROWD = 32;
/** Requests of one connection in a row, among those that follow. */
const MOST_IN_A_ROW = 32;

class TurnShare {
  #begun = 0;
  #port: number | undefined;
  #inARow = 0;

  /** Counts a request that begins. @returns true when so many have begun in this turn that it matters whose they are */
  isCrowded(): boolean {
    this.#begun += 1;
    if (this.#begun === CROWD) nextTurn(() => (this.#begun = this.#inARow = 0));
    return this.#begun > CROWD;
  }

  /**
   * Asked for each request of a crowd.
   * @param port the other end's, which tells connections apart; undefined where it is gone
   * @returns true when this request is the last for its connection
   */
  isLast(port: number | undefined): boolean {
    this.#inARow = port !== undefined && port === this.#port ? this.#inARow + 1 : 1;
    this.#port = port;
    return this.#inARow > MOST_IN_A_ROW;
  }
}
