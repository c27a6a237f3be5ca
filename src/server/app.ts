// Matches paths to protocols and operations, authenticates, and hands requests to the engine. The hot route of
// each protocol is matched natively; everything else goes through Hono.
import { Hono } from 'hono';
import { type ApiCall, prefersAsync, TASKS } from '../engine/index.ts';
import { servedProtocols, type ServedProtocol } from '../protocols/index.ts';
import type { Answer, Connection, Handler } from '../base/runtime/http-server.ts';
import { newGenerationId } from '../base/runtime/ids.ts';
import { markAnswer } from './answer-headers.ts';
import { clientRoutes } from './client-routes.ts';
import { serverFor } from './client-protocol.ts';
import { asksForCompaction, compact, compactTurn, type CompactDependencies } from './compact.ts';
import { type ClientDependencies, type ConnectedEnv, serveGroup } from './routes/client-route.ts';
import { BASES, CLIENT_GROUPS, pathsOf, servedRoutes } from './routes/all-routes.ts';
import { decodePath } from './routes/models-routes.ts';
import { answerRemote, REMOTE_PATHS } from './remote-answers.ts';
import { errorResponse } from './reply.ts';
import { withUsableHead } from './usable-head.ts';
import { ResponsesSockets, SOCKET_ROUTE, type SocketsDependencies } from './socket/responses-sockets.ts';
import { UnknownRoutes } from './routes/unknown-routes.ts';
import { hasVerb } from './routes/route.ts';
import { RouteTable, servedBy } from './routes/served-routes.ts';
import { type ServiceDependencies, serveServices } from './routes/service-routes.ts';
import { serveOperation, type Operation, type ServeDependencies, type Service } from './serve-operation.ts';

export interface AppDependencies
  extends
    ClientDependencies,
    ServiceDependencies,
    CompactDependencies,
    ServeDependencies,
    Pick<SocketsDependencies, 'maxBodyBytes' | 'socketLimits'> {
  readonly ledger: ClientDependencies['ledger'] & ServiceDependencies['ledger'];
  readonly gateway: ServeDependencies['gateway'];
  readonly load: ServeDependencies['load'];
  /** Serves everything below `/management`, which API keys of models cannot access. */
  readonly management: (request: Request, connection: Connection) => Promise<Response>;
  /** Serves `/console` and everything below it. */
  readonly console: (request: Request, connection: Connection) => Promise<Response>;
}

export interface App {
  /** POST handlers by exact path, or by prefix before a `*`. */
  readonly hot: Readonly<Record<string, Handler>>;
  readonly fallback: Handler;
  /** Response when a handler failed. */
  readonly failed: (thrown: unknown) => Response;
  /** Asks clients of open sockets to reconnect elsewhere once their running turns have ended. */
  drain(): void;
}

const SOCKET_PATHS: ReadonlySet<string> = new Set(BASES.map((base) => base + SOCKET_ROUTE.path));

/** Handles a POST that is none of a protocol's operations, although its path begins like one. */
type ByVerb = (
  request: Request,
  connection: Connection,
  begun: { readonly protocol: ServedProtocol; readonly hint: string | undefined },
) => ReturnType<Handler>;

/** Paths of the management API. Keys access their own generations below the same path. */
const MANAGEMENT = /^\/(?:api\/)?v1\/management\/(?!generation$)/;

/** Pages for people. */
const CONSOLE = /^\/console(?:\/|$)/;

/** Handlers of the clients' operations. */
const SERVICES: Readonly<Record<string, Service<AppDependencies>>> = {
  answer: ({ gateway, background }, call) =>
    prefersAsync(call)
      ? gateway.answerBy(call, (arrival) => background.submitWhole(arrival))
      : gateway.serve(call),
  compact,
  ...Object.fromEntries(
    TASKS.map((task): [string, Service<AppDependencies>] => [
      task.name,
      ({ gateway }, call) => gateway.serve(call, task),
    ]),
  ),
};

/** The same for the protocol of stored items, whose requests may refer to them. */
const KEEPING_SERVICES: typeof SERVICES = { ...SERVICES, answer: serveResponse };

/** Builds the handlers. */
export function createApp(deps: AppDependencies): App {
  const operations: Record<string, Handler> = {};
  const unknownRoutes = new UnknownRoutes(servedRoutes);
  const verbs = new RouteTable(
    CLIENT_GROUPS.map((group) => ({ ...group, routes: group.routes.filter(hasVerb) })).flatMap(servedBy),
  );
  /** A path that begins like a method of a model may be another route, or none. */
  const byVerb: ByVerb = (request, connection, begun) =>
    verbs.methodsAt(new URL(request.url).pathname).length > 0
      ? fallback(request, connection)
      : unknownRoutes.answer(deps, request, begun);
  for (const protocol of servedProtocols) addPosts(operations, protocol, deps, byVerb);
  const hono = new Hono<ConnectedEnv>();
  for (const group of CLIENT_GROUPS) serveGroup(hono, deps, group);
  serveServices(hono, deps, servedRoutes);
  hono.all('*', ({ req }) => unknownRoutes.answer(deps, req.raw));
  hono.onError((error, { req }) =>
    errorResponse(deps, error, newGenerationId(deps.now()), serverFor(req.raw)),
  );
  const modelPaths = servedProtocols.flatMap(wildOperations);
  /** Operations whose paths look like those of other resources, because an id could have their name. */
  const takesOnlyPosts = (method: string, url: URL): boolean => {
    if (method === 'POST') return false;
    if (modelPaths.some((takes) => takes(url))) return true;
    return url.pathname in operations && !unknownRoutes.methodsOf(url.pathname).includes(method);
  };
  const sockets = new ResponsesSockets({ ...deps, serve: (call) => serveResponse(deps, call) });
  const fallback: Handler = (request, connection) => {
    const url = new URL(request.url);
    const { pathname } = url;
    if (SOCKET_PATHS.has(pathname) && request.method === 'GET') return sockets.accept(request, connection);
    if (MANAGEMENT.test(pathname)) return deps.management(request, connection);
    if (CONSOLE.test(pathname)) return deps.console(request, connection);
    const remote = answerRemote(deps, request, connection);
    if (remote) return remote;
    // A path with a verb looks like that of a resource with such an id.
    const allowed = verbs.methodsAt(pathname);
    if (allowed.length > 0 && !allowed.includes(request.method))
      return unknownRoutes.wrongMethod(deps, request, pathname, allowed);
    return takesOnlyPosts(request.method, url)
      ? unknownRoutes.wrongMethod(deps, request, pathname)
      : hono.fetch(request, { connection });
  };
  // Precedes the paths of models, which begin in the same way.
  const remote = Object.fromEntries(REMOTE_PATHS.map((path) => [path, fallback]));
  const leaving = (answer: Answer, connection: Connection): Answer | Promise<Answer> =>
    answer && deps.failedKeys.look(markAnswer(answer), connection);
  const outer = (handler: Handler, isPlaced: boolean): Handler => {
    const checked = withUsableHead(deps, handler, isPlaced);
    return (request, connection) => {
      const answer = checked(request, connection);
      return answer instanceof Promise
        ? answer.then((made) => leaving(made, connection))
        : leaving(answer, connection);
    };
  };
  return {
    hot: {
      // These handlers already add all required headers to their responses.
      ...behind(operations, (handler) => withUsableHead(deps, handler, true)),
      ...behind(remote, (handler) => outer(handler, true)),
    },
    fallback: outer(fallback, false),
    failed: (error) => errorResponse(deps, error, newGenerationId(deps.now())),
    drain: () => sockets.drain(),
  };
}

/** Wraps all handlers. */
function behind(
  handlers: Readonly<Record<string, Handler>>,
  put: (handler: Handler) => Handler,
): Record<string, Handler> {
  return Object.fromEntries(Object.entries(handlers).map(([path, handler]) => [path, put(handler)]));
}

/** Adds the POST routes of a protocol. */
function addPosts(
  hot: Record<string, Handler>,
  protocol: ServedProtocol,
  deps: AppDependencies,
  byVerb: ByVerb,
): void {
  const { bases = [] } = protocol.server.addresses;
  const services = protocol.server.items ? KEEPING_SERVICES : SERVICES;
  const serviceOf = (does: string): Service<AppDependencies> => {
    const service = services[does];
    if (!service) throw new TypeError(`no service implements ${does}`);
    return service;
  };
  for (const route of clientRoutes(protocol)) {
    const { operation, methods } = route;
    const hint = methods && `Supported methods: ${methods.join(', ')}.`;
    const handler: Handler =
      typeof operation === 'function'
        ? (request, connection) => {
            const { pathname, searchParams: query } = new URL(request.url);
            const asked = operation({ path: decodePath(pathname), query });
            if (!asked) return byVerb(request, connection, { hint, protocol });
            const service = serviceOf(asked.does);
            return serveOperation(deps, { protocol, ...asked, service }, request, connection);
          }
        : postHandler(deps, { protocol, ...operation, service: serviceOf(operation.does) });
    for (const whole of pathsOf(route, bases)) hot[whole] = handler;
  }
}

/** For each prefix of a wildcard route: true when an address is one of the protocol's operations. */
function wildOperations(protocol: ServedProtocol): readonly ((url: URL) => boolean)[] {
  const { bases = [] } = protocol.server.addresses;
  return clientRoutes(protocol).flatMap((route) => {
    const { operation } = route;
    if (typeof operation !== 'function') return [];
    const beginnings = pathsOf(route, bases).map((path) => path.replace(/\*$/, ''));
    return ({ pathname, searchParams: query }: URL): boolean =>
      beginnings.some((beginning) => pathname.startsWith(beginning)) &&
      operation({ path: decodePath(pathname), query }) !== undefined;
  });
}

function postHandler(deps: AppDependencies, operation: Operation<AppDependencies>): Handler {
  return (request, connection) => serveOperation(deps, operation, request, connection);
}

async function serveResponse(deps: AppDependencies, call: ApiCall): Promise<void> {
  const { background } = call.protocol.server;
  if (asksForCompaction(call.json)) await compactTurn(deps, call);
  else if (background?.asks(call.json))
    await deps.gateway.answerBy(call, (arrival) => deps.background.submit(arrival));
  else await deps.gateway.serve(call);
}
