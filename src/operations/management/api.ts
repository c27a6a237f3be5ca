// Entry point of the management API: authenticates the caller, finds the route, reads the body, and adds response
// headers.
import { Hono, type Context } from 'hono';
import { isOperator, KeyCommands, ProjectCommands } from '../../accounts/auth/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { Connection } from '../../base/runtime/http-server.ts';
import { newId } from '../../base/runtime/ids.ts';
import { announcedBytes, readBody } from '../../server/body/body.ts';
import type { MemoryAccount } from '../../server/body/memory-budget.ts';
import { noSuchRoute } from '../../server/no-such-route.ts';
import { reply } from '../../server/reply.ts';
import { mainProtocol } from '../../protocols/index.ts';
import { routerPath } from '../../server/routes/route.ts';
import { type RouteGroup, RouteTable, servedBy } from '../../server/routes/served-routes.ts';
import type { ManagementDependencies } from './dependencies.ts';
import { entityTag, type Versioned } from './entity-tag.ts';
import { IdempotentAnswers } from './idempotent-answers.ts';
import { ProviderStates } from './provider-states.ts';
import { RefusedSignIns } from './refused-sign-ins.ts';
import type { AuditEntry } from '../../accounts/ports/index.ts';
import type { Change, RawCall, Route } from './route.ts';
import { ROUTES } from './routes/index.ts';
import { UsualTimes } from './usual-times.ts';

export const MANAGEMENT: RouteGroup<Route> = {
  bases: ['/v1/management', '/api/v1/management'],
  audience: 'admin',
  errors: mainProtocol.server.addresses.errors,
  routes: ROUTES,
};

/** All methods and paths. */
const SERVED = new RouteTable(servedBy(MANAGEMENT));

type Environment = { Bindings: { connection: Connection } };

/** Makes the handler for all requests of the management API. */
export function openManagement(
  deps: ManagementDependencies,
): (request: Request, connection: Connection) => Promise<Response> {
  const hono = new Hono<Environment>();
  const refused = new RefusedSignIns(deps.log);
  const usual = new UsualTimes(deps.ledger, deps.usage, deps.clock);
  const states = new ProviderStates({ ...deps, usual });
  const idempotent = new IdempotentAnswers({ ...deps.answers, clock: deps.clock });
  const answerWith =
    (route: Route | null) =>
    async (context: Context<Environment>): Promise<Response> => {
      const { raw: request } = context.req;
      const address = context.env.connection.address();
      const signIn = (header: (name: string) => string | null) =>
        deps.authenticateAdmin({ method: request.method, url: request.url, header });
      const authenticate = (header: (name: string) => string | null) => {
        try {
          return signIn(header);
        } catch (error) {
          refused.note(GatewayError.from(error), address, deps.clock.now());
          throw error;
        }
      };
      return reply({ ...deps, authenticate }, request, async (principal, hold, requestId) => {
        if (!route) throw noSuchRoute(request.method, new URL(request.url).pathname, SERVED);
        const { keyId, name } = principal;
        const actor = { id: keyId, name, address };
        const now = deps.now();
        const body = route.body && (await readJson(deps, request, hold));
        const ifMatch = request.headers.get('if-match');
        const entryOf = (change: Change): AuditEntry => ({
          ...change,
          id: newId('audit_'),
          createdAt: now,
          actor,
          requestId,
        });
        const call: RawCall = {
          deps,
          keys: new KeyCommands({ ...deps.tenants, entryOf }),
          projects: new ProjectCommands({ ...deps.tenants, entryOf }),
          usual,
          states,
          timeZone: deps.timeZone(),
          now,
          record: (change) => deps.audit.append(entryOf(change)),
          reader: {
            signal: request.signal,
            stays: () => context.env.connection.disableIdleTimeout(),
            mayRead: () => isOperator(principal) || isGood(() => signIn((each) => request.headers.get(each))),
          },
          param: (each) => context.req.param(each) ?? '',
          query: context.req.query(),
          body,
          ifMatch,
          accept: request.headers.get('accept') ?? '',
        };
        if (!route.idempotent) return answered(route, call);
        const { pathname, search } = new URL(request.url);
        const asking = {
          headers: request.headers,
          scope: keyId,
          content: JSON.stringify([route.method, pathname.replace(/^\/api/, ''), search, body, ifMatch]),
        };
        return idempotent.answer(asking, () => answered(route, call));
      });
    };
  for (const base of MANAGEMENT.bases)
    for (const route of ROUTES)
      hono.on(route.method.toUpperCase(), base + routerPath(route), answerWith(route));
  hono.all('*', answerWith(null));
  return async (request, connection) => hono.fetch(request, { connection });
}

async function answered(route: Route, call: RawCall): Promise<Response> {
  const answer = await route.answerTo(call);
  if (answer instanceof Response) return answer;
  const etag = route.tagged && entityTag(answer as JsonObject & Versioned);
  return Response.json(answer, {
    status: route.status ?? 200,
    ...(etag !== undefined && { headers: { etag } }),
  });
}

function isGood(signIn: () => unknown): boolean {
  try {
    signIn();
    return true;
  } catch {
    return false;
  }
}

/** The body, or undefined if there is none. The route's schema decides whether it is required. */
async function readJson(
  deps: ManagementDependencies,
  request: Request,
  hold: MemoryAccount,
): Promise<unknown> {
  if (request.body === null || request.headers.get('content-length') === '0') return undefined;
  const { json } = await readBody(request, announcedBytes(request), deps.bodies, hold);
  return json;
}
