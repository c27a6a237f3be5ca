// Routes without an API key for models: health, readiness, metrics, API description.
import { TEXTS } from '../../canonical/index.ts';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { AdminSignIn } from '../../accounts/auth/index.ts';
import type { LedgerBacklog, LedgerStore } from '../../accounts/ports/index.ts';
import type { Counters } from '../../base/telemetry/counters.ts';
import type { MemoryBudget } from '../body/memory-budget.ts';
import type { LoadWatch } from '../load-watch.ts';
import type { ConnectedEnv } from './client-route.ts';
import { type RawCall, type Route, routerPath, routesOf } from './route.ts';
import type { RouteGroup, ServedRoute } from './served-routes.ts';

export interface ServiceDependencies {
  readonly ledger: Pick<LedgerStore, 'backlog'>;
  readonly counters: Counters;
  readonly load: LoadWatch;
  readonly memory: MemoryBudget;
  /** Authenticates admins. Throws GatewayError for all others. */
  readonly authenticateAdmin: AdminSignIn;
  /** All metrics, as text. */
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  /** True while the process is shutting down, so that load balancers stop sending requests. */
  readonly leaves: () => boolean;
  /** Problems that do not prevent serving, one sentence each. */
  readonly degraded: () => readonly string[];
  /** Serves `/openapi.json` and `/docs`. Throws GatewayError `not_found`. */
  readonly describe: (path: string, served: readonly ServedRoute[]) => Promise<Response>;
}

interface ServiceCall extends RawCall {
  readonly deps: ServiceDependencies;
  readonly request: Request;
  /** All routes of this server. */
  readonly served: () => readonly ServedRoute[];
}

type ServiceGroup = RouteGroup<Route<ServiceCall>>;

const route = routesOf<ServiceCall>(z.object({}));
const tag = 'Service';

/** Registers the routes of a group. The router handles their errors. */
export function serveServices(
  hono: Hono<ConnectedEnv>,
  deps: ServiceDependencies,
  served: () => readonly ServedRoute[],
): void {
  for (const each of [...OPEN.routes, ...OPERATORS.routes])
    hono.on(each.method.toUpperCase(), routerPath(each), async ({ req, json }) => {
      const param = (name: string): string => req.param(name) ?? '';
      const query = req.query();
      const answer = await each.answerTo({ deps, request: req.raw, served, param, query, body: undefined });
      return answer instanceof Response ? answer : json(answer);
    });
}

const OPEN: ServiceGroup = {
  bases: [''],
  audience: 'everybody',
  errors: 'any',
  routes: [
    route({
      id: 'getRoot',
      method: 'get',
      path: '/',
      tag,
      summary: 'Identifies the server as a gateway.',
      answer: z.looseObject({ name: z.literal('dragoman') }),
      // Claude Code requests the head of this page to check that the server is available.
      run({ request }) {
        // Browsers accept HTML first; programs accept anything.
        const isBrowser = request.headers.get('accept')?.startsWith('text/html') === true;
        const headers = { location: '/console' };
        return isBrowser ? new Response(null, { status: 302, headers }) : { name: 'dragoman' as const };
      },
    }),
    route({
      id: 'getHealth',
      method: 'get',
      path: '/healthz',
      tag,
      summary: 'Liveness check.',
      answer: z.looseObject({ status: z.literal('ok') }),
      run: () => ({ status: 'ok' as const }),
    }),
    route({
      id: 'getReadiness',
      method: 'get',
      path: '/readyz',
      tag,
      summary: 'Readiness check.',
      answer: z.looseObject({ status: z.string() }),
      alsoStatus: { 503: z.looseObject({ status: z.string() }) },
      run({ deps }) {
        const isReady = !deps.leaves() && deps.load.isHealthy;
        const status = isReady ? 'ready' : deps.leaves() ? 'draining' : 'overloaded';
        const counts = { ...deps.counters.read(), refused_for_budget: deps.memory.refusals };
        const degraded = [...degradations(deps.ledger.backlog()), ...deps.degraded()];
        const held = { held_bytes: deps.memory.heldBytes, memory_percent: deps.load.memoryPercent };
        return Response.json({ status, degraded, ...held, counts }, { status: isReady ? 200 : 503 });
      },
    }),
    route({
      id: 'getDescription',
      method: 'get',
      path: '/openapi.json',
      tag,
      summary: 'This description.',
      answer: z.looseObject({ openapi: z.string() }),
      run: describe,
    }),
    route({
      id: 'showReference',
      method: 'get',
      path: '/docs',
      tag,
      summary: 'This description as a web page.',
      media: 'text/html',
      answer: z.string(),
      run: describe,
    }),
    route({
      id: 'showDocument',
      method: 'get',
      path: '/docs/{page}',
      isDeep: true,
      tag,
      summary: 'A page of the documentation, or a file that such a page loads.',
      media: '*/*',
      answer: z.string(),
      refusals: [404],
      run: describe,
    }),
  ],
};

const OPERATORS: ServiceGroup = {
  bases: [''],
  audience: 'admin',
  errors: 'any',
  routes: [
    route({
      id: 'getMetrics',
      method: 'get',
      path: '/metrics',
      tag,
      summary: 'Metrics in the format of Prometheus.',
      media: 'text/plain',
      answer: z.string(),
      async run({ deps, request: { method, url, headers } }) {
        deps.authenticateAdmin({ method, url, header: (name) => headers.get(name) });
        const { text, contentType } = await deps.metrics();
        return new Response(text, { headers: { 'content-type': contentType } });
      },
    }),
  ],
};

export const SERVICE_GROUPS: readonly ServiceGroup[] = [OPEN, OPERATORS];

function describe({ deps, request, served }: Pick<ServiceCall, 'deps' | 'request' | 'served'>) {
  return deps.describe(new URL(request.url).pathname, served());
}

/** Problems with records that do not prevent serving. */
function degradations({ isStuck, isFull }: LedgerBacklog): readonly string[] {
  return [
    ...(isStuck ? [TEXTS.recordsWait] : []),
    ...(isFull ? [`${TEXTS.journalFull}: records may be lost`] : []),
  ];
}
