// The listening socket and push-driven response bodies. The only file that knows how this runtime serves HTTP.
import { webSocketHandler, type SocketListener, type Upgrade } from './web-socket.ts';

export type { MessageSocket, SocketListener, Upgrade } from './web-socket.ts';

/** Undefined: the connection was upgraded. */
type Answer = Response | undefined;

/**
 * @param patient lifts the idle limit of this connection: from then on silence is the handler's own business
 * @param upgrade makes a WebSocket of the connection; the handler then answers nothing
 */
export type Handler = (request: Request, patient: () => void, upgrade: Upgrade) => Answer | Promise<Answer>;

/** Seconds without a byte after which a connection is closed: slow senders must not hold one for ever. */
const IDLE_SECONDS = 60;

export interface ListenOptions {
  readonly hostname: string;
  /** 0: any free port. */
  readonly port: number;
  /** Bytes; larger bodies and messages are refused by the runtime itself. */
  readonly maxBodyBytes: number;
  /** Handlers of exact paths, or of all that begin with what stands before a `*`, for POST: matched natively. */
  readonly hot: Readonly<Record<string, Handler>>;
  /** Everything else. */
  readonly fallback: Handler;
  readonly idleSeconds?: number | undefined;
}

export interface Listener {
  readonly hostname: string;
  readonly port: number;
  /** Refuses new connections; running requests go on. */
  drain(): void;
  /** Closes every connection. */
  stop(): Promise<void>;
}

/** Opens the listening socket. Throws when the address is taken. */
export function listen(options: ListenOptions): Listener {
  const adapt =
    (handler: Handler) =>
    (request: Request, server: Bun.Server<SocketListener>): Answer | Promise<Answer> =>
      handler(
        request,
        () => server.timeout(request, 0),
        (data, headers) => server.upgrade(request, { data, headers }),
      );
  const routes = Object.fromEntries(
    Object.entries(options.hot).map(([path, handler]) => [path, { POST: adapt(handler) }]),
  );
  const server = Bun.serve<SocketListener>({
    hostname: options.hostname,
    port: options.port,
    maxRequestBodySize: options.maxBodyBytes,
    idleTimeout: options.idleSeconds ?? IDLE_SECONDS,
    routes,
    fetch: adapt(options.fallback),
    websocket: webSocketHandler(options.maxBodyBytes),
  });
  return {
    hostname: options.hostname,
    port: server.port ?? options.port,
    drain: () => void server.stop(false),
    stop: () => server.stop(true),
  };
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
