// Matches paths to protocols and operations, authenticates, and hands requests to the engine. The hot route of
// each protocol is matched natively; everything else goes through Hono.
import { Hono } from 'hono';
import type { AdminSignIn, Principal } from '../auth/index.ts';
import { GatewayError, type JsonObject } from '../canonical/index.ts';
import { type ApiCall, withLateCounts } from '../engine/index.ts';
import { generationView } from '../ledger/index.ts';
import {
  mainProtocol,
  servedProtocols,
  type ClientOperation,
  type ServedProtocol,
  type ServerCodec,
} from '../protocols/index.ts';
import type { Answer, Connection, Handler } from '../runtime/http-server.ts';
import { newGenerationId } from '../runtime/ids.ts';
import type { LedgerBacklog, LedgerStore } from '../storage/ports.ts';
import type { Counters } from '../telemetry/counters.ts';
import { markAnswer } from './answer-headers.ts';
import { announcedBytes, readBody } from './body/body.ts';
import { serverFor } from './client-protocol.ts';
import { asksForCompaction, compact, compactTurn, type CompactDependencies } from './compact.ts';
import { addConversationsRoutes } from './routes/conversations-routes.ts';
import { countStored, countTokens } from './count-tokens.ts';
import { explainedProtocol } from './explained-protocol.ts';
import { addFilesRoutes } from './routes/files-routes.ts';
import type { Hold } from './body/memory-budget.ts';
import { addModelsRoutes, addOwnModelsRoutes, decodePath } from './routes/models-routes.ts';
import { addPromptsRoutes } from './routes/prompts-routes.ts';
import { answerRemote, REMOTE_PATHS } from './remote-answers.ts';
import { errorResponse, reply, requestIds } from './reply.ts';
import { addResponsesRoutes } from './routes/responses-routes.ts';
import { withUsableHead } from './body/request-head.ts';
import { ResponsesSockets, type SocketsDependencies } from './socket/responses-sockets.ts';
import { servedRoutes, type ServedRoute } from './routes/served-routes.ts';
import { serveOperation, type Operation, type ServeDependencies, type Service } from './serve-operation.ts';
import { routesBelow, type StateDependencies } from './routes/state-routes.ts';

export interface AppDependencies
  extends
    StateDependencies,
    CompactDependencies,
    ServeDependencies,
    Pick<SocketsDependencies, 'maxBodyBytes' | 'socketLimits'> {
  readonly ledger: LedgerStore;
  readonly counters: Counters;
  /** Who may manage this gateway. Throws GatewayError for everybody else. */
  readonly authenticateAdmin: AdminSignIn;
  /** All metrics, as text. */
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  /** True once the process is to end: whoever sends requests should send them elsewhere. */
  readonly leaves: () => boolean;
  /** What else does not work as it should while requests are answered all the same, a sentence each. */
  readonly degraded: () => readonly string[];
  /** Answers whatever is below `/management` and no key of a model's may ask. */
  readonly management: (request: Request, connection: Connection) => Promise<Response>;
  /** Answers `/console` and everything below it. */
  readonly console: (request: Request, connection: Connection) => Promise<Response>;
  /** Answers `/openapi.json` and what is at `/docs`. Throws GatewayError `not_found`. */
  readonly describe: (path: string, served: readonly ServedRoute[]) => Promise<Response>;
}

export interface App {
  /** POST handlers by exact path, or by the beginning of one before a `*`. */
  readonly hot: Readonly<Record<string, Handler>>;
  readonly fallback: Handler;
  /** The answer where one of them failed. */
  readonly failed: (thrown: unknown) => Response;
  /** Asks the clients of open sockets to go elsewhere once their running turns have ended. */
  drain(): void;
}

/** Every API path is served under both. */
const BASES = ['/api/v1', '/v1'] as const;

/** What clients call first is also served without a base, which people forget to write. */
const CLIENT_BASES = [...BASES, ''] as const;

/** Where clients read lists of models. */
const MODELS_BASES = [
  ...CLIENT_BASES,
  ...servedProtocols.flatMap(({ server }) => server.addresses.bases ?? []),
];

/** Where clients open a WebSocket instead of sending a request. */
const SOCKET_PATHS: ReadonlySet<string> = new Set(BASES.map((base) => `${base}/responses`));

/** What admins ask; a key asks for its own generations below the same path. */
const MANAGEMENT = /^\/(?:api\/)?v1\/management\/(?!generation$)/;

/** What people see. */
const CONSOLE = /^\/console(?:\/|$)/;

/** Who answers what clients ask for. */
const SERVICES: Readonly<Record<ClientOperation['does'], Service<AppDependencies>>> = {
  answer: ({ gateway }, call) => gateway.serve(call),
  embed: ({ gateway }, call) => gateway.embed(call),
  count: countTokens,
  compact,
};

/** The same for the protocol of what is kept: its requests may refer to that. */
const KEEPING_SERVICES: typeof SERVICES = { ...SERVICES, answer: serveResponse, count: countStored };

/** What of the records does not work as it should while requests are answered all the same. */
function degradations({ isStuck, isFull }: LedgerBacklog): readonly string[] {
  return [
    ...(isStuck ? ['the database takes no records: they wait in the journal'] : []),
    ...(isFull ? ['the journal is full, or the disk takes nothing: records may be lost'] : []),
  ];
}

/** Builds the handlers. */
export function createApp(deps: AppDependencies): App {
  const operations: Record<string, Handler> = {};
  for (const protocol of servedProtocols) addPosts(operations, protocol, deps);
  const hot: Record<string, Handler> = {};
  for (const base of BASES) hot[`${base}/route/explain`] = (request) => explainRequest(deps, request);
  const hono = new Hono();
  // Claude Code asks for the head of this page to learn whether somebody is there.
  hono.get('/', (context) => context.json({ name: 'dragoman' }));
  hono.get('/healthz', (context) => context.json({ status: 'ok' }));
  hono.get('/readyz', (context) => {
    const isReady = !deps.leaves() && deps.load.isWell;
    const status = isReady ? 'ready' : deps.leaves() ? 'draining' : 'overloaded';
    const counts = { ...deps.counters.read(), refused_for_budget: deps.memory.refusals };
    const degraded = [...degradations(deps.ledger.backlog()), ...deps.degraded()];
    const held = { held_bytes: deps.memory.heldBytes, memory_percent: deps.load.memoryPercent };
    return context.json({ status, degraded, ...held, counts }, isReady ? 200 : 503);
  });
  hono.get('/metrics', async ({ req }) => {
    deps.authenticateAdmin((name) => req.header(name) ?? null);
    const { text, contentType } = await deps.metrics();
    return new Response(text, { headers: { 'content-type': contentType } });
  });
  for (const base of BASES) {
    for (const path of ['/generation', '/management/generation']) {
      hono.get(base + path, (context) =>
        reply(deps, context.req.raw, (principal) =>
          generationById(deps.ledger, principal, context.req.query('id')),
        ),
      );
    }
  }
  addOwnModelsRoutes(hono, deps);
  for (const base of MODELS_BASES) addModelsRoutes(hono, base, deps);
  for (const base of BASES) {
    const add = routesBelow(hono, base, deps);
    addResponsesRoutes(add);
    addConversationsRoutes(add);
    addPromptsRoutes(add);
    addFilesRoutes(add);
  }
  for (const path of ['/openapi.json', '/docs', '/docs/*'])
    hono.get(path, ({ req }) =>
      deps.describe(
        req.path,
        servedRoutes(Object.keys({ ...operations, ...hot }), hono.routes, SOCKET_PATHS),
      ),
    );
  hono.all('*', (context) => {
    const methods =
      context.req.path in operations || context.req.path in hot ? ' This path takes POST only.' : '';
    throw new GatewayError(
      'not_found',
      `There is nothing at ${context.req.method} ${context.req.path.slice(0, 200)}.${methods}`,
    );
  });
  hono.onError((error, { req }) =>
    errorResponse(deps, error, newGenerationId(deps.now()), serverFor(req.raw)),
  );
  const sockets = new ResponsesSockets({ ...deps, serve: (call) => serveResponse(deps, call) });
  const fallback: Handler = (request, connection) => {
    const { pathname } = new URL(request.url);
    if (SOCKET_PATHS.has(pathname) && request.method === 'GET') return sockets.accept(request, connection);
    if (MANAGEMENT.test(pathname)) return deps.management(request, connection);
    if (CONSOLE.test(pathname)) return deps.console(request, connection);
    return answerRemote(deps, request, connection) ?? hono.fetch(request);
  };
  // Before the paths of models, which begin as these do.
  for (const path of REMOTE_PATHS) hot[path] = fallback;
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
      // Their answers are made with all that they must have.
      ...behind(operations, (handler) => withUsableHead(deps, handler, true)),
      ...behind(hot, (handler) => outer(handler, true)),
    },
    fallback: outer(fallback, false),
    failed: (error) => errorResponse(deps, error, newGenerationId(deps.now())),
    drain: () => sockets.drain(),
  };
}

/** The same handlers, each with something before it. */
function behind(
  handlers: Readonly<Record<string, Handler>>,
  put: (handler: Handler) => Handler,
): Record<string, Handler> {
  return Object.fromEntries(Object.entries(handlers).map(([path, handler]) => [path, put(handler)]));
}

/** Adds what clients of a protocol can POST to. */
function addPosts(hot: Record<string, Handler>, protocol: ServedProtocol, deps: AppDependencies): void {
  const { routes, bases = [] } = protocol.server.addresses;
  const services = protocol.server.items ? KEEPING_SERVICES : SERVICES;
  for (const { path, isWhole, operation, hint } of routes) {
    const handler: Handler =
      typeof operation === 'function'
        ? (request, connection) => {
            const { pathname, searchParams: query } = new URL(request.url);
            const asked = operation({ path: decodePath(pathname), query });
            if (!asked) return nothingAt(deps, pathname, hint, protocol.server);
            const service = services[asked.does];
            return serveOperation(deps, { protocol, ...asked, service }, request, connection);
          }
        : postHandler(deps, { protocol, ...operation, service: services[operation.does] });
    for (const base of isWhole ? [''] : [...CLIENT_BASES, ...bases]) hot[base + path] = handler;
  }
}

function postHandler(deps: AppDependencies, operation: Operation<AppDependencies>): Handler {
  return (request, connection) => serveOperation(deps, operation, request, connection);
}

function nothingAt(deps: AppDependencies, path: string, hint = '', server: ServerCodec): Response {
  const error = new GatewayError(
    'not_found',
    `There is nothing at POST ${path.slice(0, 200)}. ${hint}`.trimEnd(),
  );
  return errorResponse(deps, error, newGenerationId(deps.now()), server);
}

async function serveResponse(deps: AppDependencies, call: ApiCall): Promise<void> {
  if (asksForCompaction(call.json)) await compactTurn(deps, call);
  else await deps.gateway.serve(call);
}

/** Answers with the plan of a request instead of running it; errors are those that the request would get. */
async function explainRequest(deps: AppDependencies, request: Request): Promise<Response> {
  const id = newGenerationId(deps.now());
  const header = (name: string): string | null => request.headers.get(name);
  let server: ServerCodec | undefined;
  let hold: Hold | undefined;
  try {
    const principal = deps.authenticate(header);
    hold = deps.memory.open(principal.keyId);
    const { bytes, json } = await readBody(request, announcedBytes(request), deps.bodies, hold);
    const { searchParams } = new URL(request.url);
    const named = searchParams.get('protocol');
    // Embeddings are nobody's protocol, and their bodies look like requests of another.
    const task = named === 'embeddings' ? 'embedding' : undefined;
    const protocol = task ? mainProtocol : explainedProtocol(named, json, header);
    ({ server } = protocol);
    // Bodies of Gemini do not name their model.
    const route = { model: searchParams.get('model') ?? undefined };
    const bodyChars = bytes.length;
    const table = deps.gateway.explain({ protocol, route, task, principal, json, bodyChars, header });
    return Response.json(table, { headers: requestIds(id) });
  } catch (error) {
    return errorResponse(deps, error, id, server);
  } finally {
    hold?.release();
  }
}

async function generationById(
  ledger: LedgerStore,
  principal: Principal,
  id: string | undefined,
): Promise<JsonObject> {
  if (!id)
    throw new GatewayError('invalid_request', 'id: the id of a generation is required', { param: 'id' });
  // Each protocol puts its own prefix before the generation's id (`resp_…`, `msg_…`); the id itself has no underscore.
  const found = await ledger.find(id.slice(id.lastIndexOf('_') + 1), principal.projectId);
  if (!found)
    throw new GatewayError(
      'not_found',
      `There is no generation ${JSON.stringify(id.slice(0, 100))} for this API key.`,
      { param: 'id' },
    );
  const { generation, attempts } = await withLateCounts(found, principal.projectId, ledger);
  return generationView(generation, attempts);
}
