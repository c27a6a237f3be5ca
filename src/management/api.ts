// What happens to every request of the management API: who asks is found out first, then the route is found, its body
// read, and its answer given the headers that belong to it. Knows no route.
import { Hono, type Context } from 'hono';
import { isOperator, KeyCommands, ProjectCommands } from '../auth/index.ts';
import { GatewayError, type JsonObject } from '../canonical/index.ts';
import type { Connection } from '../runtime/http-server.ts';
import { newId } from '../runtime/ids.ts';
import { announcedBytes, readBody } from '../server/body/body.ts';
import type { Hold } from '../server/body/memory-budget.ts';
import { reply } from '../server/reply.ts';
import type { ManagementDependencies } from './dependencies.ts';
import { entityTag, type Versioned } from './entity-tag.ts';
import { IdempotentAnswers } from './idempotent-answers.ts';
import { RefusedSignIns } from './refused-sign-ins.ts';
import type { AuditEntry } from '../storage/ports.ts';
import type { Change, RawCall, Route } from './route.ts';
import { ROUTES } from './routes/index.ts';

/** Where it is. */
export const MANAGEMENT_BASES = ['/api/v1/management', '/v1/management'] as const;

type Environment = { Bindings: { connection: Connection } };

/** Makes what answers every request below the bases. */
export function openManagement(
  deps: ManagementDependencies,
): (request: Request, connection: Connection) => Promise<Response> {
  const hono = new Hono<Environment>();
  const refused = new RefusedSignIns(deps.log);
  const idempotent = new IdempotentAnswers();
  const answerWith =
    (route: Route | null) =>
    async (context: Context<Environment>): Promise<Response> => {
      const { raw: request } = context.req;
      const address = context.env.connection.address();
      const authenticate = (header: (name: string) => string | null) => {
        try {
          return deps.authenticateAdmin(header);
        } catch (error) {
          refused.note(GatewayError.from(error), address, deps.now());
          throw error;
        }
      };
      return reply({ ...deps, authenticate }, request, async (principal, hold, requestId) => {
        if (!route) throw nothingAt(request);
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
          now,
          record: (change) => deps.audit.append(entryOf(change)),
          reader: {
            signal: request.signal,
            stays: () => context.env.connection.patient(),
            mayRead: () =>
              isOperator(principal) ||
              isGood(() => deps.authenticateAdmin((each) => request.headers.get(each))),
          },
          param: (each) => context.req.param(each) ?? '',
          query: context.req.query(),
          body,
          ifMatch,
          accept: request.headers.get('accept') ?? '',
        };
        if (!route.idempotent) return answered(route, call);
        const scope = `${keyId} ${route.method} ${new URL(request.url).pathname}`;
        const asking = { headers: request.headers, scope, content: JSON.stringify([body, ifMatch]), now };
        return idempotent.answer(asking, () => answered(route, call));
      });
    };
  for (const base of MANAGEMENT_BASES)
    for (const route of ROUTES)
      hono.on(route.method.toUpperCase(), base + honoPath(route), answerWith(route));
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

/** Undefined where there is none: whether there may be none is said by the route's schema. */
async function readJson(deps: ManagementDependencies, request: Request, hold: Hold): Promise<unknown> {
  if (request.body === null || request.headers.get('content-length') === '0') return undefined;
  const { json } = await readBody(request, announcedBytes(request), deps.bodies, hold);
  return json;
}

/** `/keys/{id}` as Hono writes it. */
function honoPath({ path, isDeep }: Route): string {
  const deep = isDeep ? path.replace(/\{(\w+)\}$/, ':$1{.+}') : path;
  return deep.replaceAll(/\/\{(\w+)\}/g, '/:$1');
}

function nothingAt({ method, url }: Request): GatewayError {
  return new GatewayError(
    'not_found',
    `There is nothing at ${method} ${new URL(url).pathname.slice(0, 200)}. \`GET /openapi.json\` lists what there is.`,
  );
}
