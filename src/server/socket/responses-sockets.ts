// `GET /responses`: authenticates and opens WebSocket connections, and keeps track of open ones.
import type { RouteDescription } from '../../base/lib/route-description.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { Connection } from '../../base/runtime/http-server.ts';
import { newGenerationId } from '../../base/runtime/ids.ts';
import { keepingProtocol } from '../../protocols/index.ts';
import type { LoadWatch } from '../load-watch.ts';
import { OneByOne } from '../body/one-by-one.ts';
import { errorResponse, requestIds } from '../reply.ts';
import { ResponsesSocket, type SocketDependencies } from './responses-socket.ts';
import { type StateDependencies } from '../routes/state-routes.ts';
import { warmUp } from '../warm-up.ts';

/** Route at which clients open a WebSocket. */
export const SOCKET_ROUTE: RouteDescription = {
  id: 'openResponsesSocket',
  method: 'get',
  path: '/responses',
  tag: 'Responses',
  summary: 'Opens a WebSocket. Each message on it requests a response.',
  status: 101,
  answer: null,
  refusals: [404],
};

export interface SocketsDependencies
  extends Omit<SocketDependencies, 'warmUp' | 'readers'>, Pick<StateDependencies, 'state'> {
  /** False while the process drains. */
  readonly ready: () => boolean;
  readonly load: LoadWatch;
  readonly socketLimits: () => SocketLimits;
}

/** Limits on open connections. */
export interface SocketLimits {
  readonly maxConnectionsPerKey: number;
  readonly maxConnections: number;
}

/** Retry delay when too many connections are open, in milliseconds. */
const RETRY_MS = 5_000;

export class ResponsesSockets {
  readonly #deps: SocketsDependencies;
  /** By connection, the key that opened it. */
  readonly #open = new Map<ResponsesSocket, string>();

  readonly #readers = new OneByOne();

  constructor(deps: SocketsDependencies) {
    this.#deps = deps;
  }

  /** Handles a request for a connection. Undefined: it was opened. */
  accept(request: Request, connection: Connection): Response | undefined {
    const deps = this.#deps;
    const id = newGenerationId(deps.now());
    try {
      const { keyId } = deps.authenticate((name) => request.headers.get(name));
      // Clients that try this first fall back to HTTP requests at this status (required by Codex).
      if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return upgradeRequired(id);
      if (!deps.ready())
        throw new GatewayError('upstream_unavailable', TEXTS.shuttingDownTryAgain, {
          fault: 'gateway',
          httpStatus: 503,
          retryAfterMs: 1000,
        });
      deps.load.admit(0);
      this.#admit(keyId);
      const socket: ResponsesSocket = new ResponsesSocket(
        { ...deps, warmUp: (call) => warmUp(deps, call), readers: this.#readers },
        request.headers,
        keyId,
        () => this.#open.delete(socket),
      );
      if (!connection.upgrade(socket, requestIds(id))) {
        throw new GatewayError(
          'invalid_request',
          'The WebSocket handshake is incomplete (RFC 6455, section 4.1).',
        );
      }
      this.#open.set(socket, keyId);
      return undefined;
    } catch (error) {
      return errorResponse(deps, error, id, keepingProtocol.server);
    }
  }

  /** Throws GatewayError when too many are open. */
  #admit(keyId: string): void {
    const { maxConnections, maxConnectionsPerKey } = this.#deps.socketLimits();
    let own = 0;
    for (const owner of this.#open.values()) if (owner === keyId) own += 1;
    if (own >= maxConnectionsPerKey)
      throw new GatewayError(
        'rate_limited',
        `This key has ${own} open WebSocket connections; the limit is ${maxConnectionsPerKey} (server.websocket.max_connections_per_key). Close one of them.`,
        { fault: 'client', retryAfterMs: RETRY_MS, code: 'websocket_connections' },
      );
    if (this.#open.size >= maxConnections)
      throw new GatewayError(
        'upstream_unavailable',
        `The gateway has ${maxConnections} open WebSocket connections, which is the limit (server.websocket.max_connections). Try again later.`,
        { fault: 'gateway', httpStatus: 503, retryAfterMs: RETRY_MS, code: 'websocket_connections' },
      );
  }

  /** Closes every connection once it is idle. */
  drain(): void {
    for (const socket of this.#open.keys()) socket.drain();
  }
}

function upgradeRequired(id: string): Response {
  const error = new GatewayError(
    'invalid_request',
    'GET /responses requires a WebSocket handshake. Use POST /responses to create a response, and GET /responses/{id} to read one.',
    { code: 'upgrade_required' },
  );
  const headers = { ...requestIds(id), upgrade: 'websocket', connection: 'upgrade' };
  return Response.json(keepingProtocol.server.encodeError(error, id).body, { status: 426, headers });
}
