// `GET /responses`: opens WebSocket connections, after the same authentication as everywhere, and knows all that are
// open. What happens on one is its own business.
import { GatewayError } from '../canonical/index.ts';
import type { Connection } from '../runtime/http-server.ts';
import { newGenerationId } from '../runtime/ids.ts';
import { errorResponse, requestIds } from './reply.ts';
import { ResponsesSocket, type SocketDependencies } from './responses-socket.ts';
import { responsesProtocol, type StateDependencies } from './state-routes.ts';
import { warmUp } from './warm-up.ts';

export interface SocketsDependencies
  extends Omit<SocketDependencies, 'warmUp'>, Pick<StateDependencies, 'state'> {
  /** False while the process drains. */
  readonly ready: () => boolean;
}

export class ResponsesSockets {
  readonly #deps: SocketsDependencies;
  readonly #open = new Set<ResponsesSocket>();

  constructor(deps: SocketsDependencies) {
    this.#deps = deps;
  }

  /** Answers a request for a connection; undefined when it was opened. */
  accept(request: Request, connection: Connection): Response | undefined {
    const deps = this.#deps;
    const id = newGenerationId(deps.now());
    try {
      deps.authenticate((name) => request.headers.get(name));
      // Clients that try this first fall back to plain requests when they are told so (Codex: only by this status).
      if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') return upgradeRequired(id);
      if (!deps.ready())
        throw new GatewayError('upstream_unavailable', 'the gateway is shutting down; try again');
      const socket: ResponsesSocket = new ResponsesSocket(
        { ...deps, warmUp: (call) => warmUp(deps, call) },
        request.headers,
        () => this.#open.delete(socket),
      );
      if (!connection.upgrade(socket, requestIds(id))) {
        throw new GatewayError(
          'invalid_request',
          'the WebSocket handshake is not complete (RFC 6455, section 4.1)',
        );
      }
      this.#open.add(socket);
      return undefined;
    } catch (error) {
      return errorResponse(deps, error, id, responsesProtocol.server);
    }
  }

  /** Closes every connection as soon as nothing runs on it. */
  drain(): void {
    for (const socket of this.#open) socket.drain();
  }
}

function upgradeRequired(id: string): Response {
  const error = new GatewayError(
    'invalid_request',
    'GET /responses takes a WebSocket handshake; to create a response, POST to this path, and to read one, GET /responses/{id}',
    { code: 'upgrade_required' },
  );
  const headers = { ...requestIds(id), upgrade: 'websocket', connection: 'upgrade' };
  return Response.json(responsesProtocol.server.encodeError(error, id).body, { status: 426, headers });
}
