// Responses for requests without a route: 405 for a path with other methods, otherwise 404 with the nearest route, in
// the client's protocol.
import { GatewayError } from '../../canonical/index.ts';
import { servedProtocols, type ServedProtocol } from '../../protocols/index.ts';
import { newGenerationId } from '../../base/runtime/ids.ts';
import { protocolOfClient, serverFor } from '../client-protocol.ts';
import { ALL_ROUTES, LONGEST_PATH, unknownPath, wrongMethod } from '../no-such-route.ts';
import { errorResponse, type ReplyDependencies } from '../reply.ts';
import { decodePath } from './models-routes.ts';
import { RouteTable, type ServedRoute } from './served-routes.ts';

export class UnknownRoutes {
  readonly #served: () => readonly ServedRoute[];
  #table: RouteTable | undefined;

  /** @param served returns all routes; called once, at the first request without a route */
  constructor(served: () => readonly ServedRoute[]) {
    this.#served = served;
  }

  /** @param begun protocol identified by the path prefix, with an optional hint */
  answer(
    deps: Pick<ReplyDependencies, 'log' | 'now'>,
    request: Request,
    begun?: { readonly protocol: ServedProtocol; readonly hint: string | undefined },
  ): Response {
    const id = newGenerationId(deps.now());
    const { method } = request;
    const { pathname } = new URL(request.url);
    const path = pathname.slice(0, LONGEST_PATH);
    const server = begun?.protocol.server ?? serverFor(request);
    // The text after the colon is an unknown method of the client's protocol.
    const allowed = begun && pathname.includes(':') ? [] : this.#routes().methodsAt(pathname);
    if (allowed.length > 0) return errorResponse(deps, wrongMethod(method, path, allowed), id, server);
    const known = unservedAt(request, decodePath(pathname));
    if (known) {
      const message = `\`${path}\` is not served by this gateway. ${known.nearest}`;
      const error = new GatewayError('not_found', message, { code: 'not_served' });
      const { server: owners } = known.protocol;
      return errorResponse(deps, error, id, begun || protocolOfClient(request) ? server : owners);
    }
    const rest = begun?.hint ?? this.#suggestion(pathname);
    return errorResponse(deps, unknownPath(method, path, rest), id, server);
  }

  /** @param allowed methods of the path; default: POST and other methods at an operation's address */
  wrongMethod(
    deps: Pick<ReplyDependencies, 'log' | 'now'>,
    request: Request,
    pathname: string,
    allowed: readonly string[] = [...this.methodsOf(pathname), 'POST'],
  ): Response {
    const shown = [...new Set(allowed)].toSorted();
    const error = wrongMethod(request.method, pathname.slice(0, LONGEST_PATH), shown);
    return errorResponse(deps, error, newGenerationId(deps.now()), serverFor(request));
  }

  /** Methods of routes with exactly this path. */
  methodsOf(pathname: string): readonly string[] {
    return this.#routes().methodsOf(pathname);
  }

  /** All routes except wildcard prefixes of operations. */
  #routes(): RouteTable {
    return (this.#table ??= new RouteTable(
      this.#served().map((route) => ({
        ...route,
        paths: route.paths.filter((path) => route.method !== 'post' || !path.endsWith('*')),
      })),
    ));
  }

  /** A sentence with the path that was probably meant, or with the list of all. */
  #suggestion(pathname: string): string {
    const trimmed = pathname.replace(/\/+$/, '').replaceAll(/\/{2,}/g, '/');
    const lower = trimmed.toLowerCase();
    const candidates = [
      trimmed,
      lower,
      `/v1${lower}`,
      lower.replace(/^(?:\/api)?\/v\d+(?:\/v\d+)?\//, '/v1/'),
    ];
    const near = candidates.find((path) => path !== pathname && this.#routes().methodsAt(path).length > 0);
    return near === undefined ? ALL_ROUTES : `Did you mean ${near.slice(0, LONGEST_PATH)}?`;
  }
}

/** The known but unserved API at a path, of the client's protocol first. */
function unservedAt(
  request: Request,
  path: string,
): { readonly protocol: ServedProtocol; readonly nearest: string } | undefined {
  const own = protocolOfClient(request);
  for (const protocol of own ? [own, ...servedProtocols] : servedProtocols) {
    const part = protocol.server.addresses.unserved?.find(({ match }) => match.test(path));
    if (part) return { protocol, nearest: part.nearest };
  }
  return undefined;
}
