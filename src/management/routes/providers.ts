// Providers that are on: how their endpoints do, and putting them aside or taking them back by hand.
import { z } from 'zod';
import { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import { endpointSchema, endpointView, knownEndpoints } from '../endpoint-view.ts';
import { listOf, PAGE, pageOf } from '../page.ts';
import { route, type Route } from '../route.ts';

/** How long an endpoint can be put aside: who forgets it again finds it served again. */
const LONGEST_MS = 7 * 24 * 3_600_000;
const USUAL_MS = 3_600_000;

const summarySchema = z.object({
  object: z.literal('provider'),
  id: z.string(),
  name: z.string(),
  protocols: z.array(z.string()),
  models: z.int().describe('Listed models that it serves.'),
  running: z.int().describe('Attempts that run now.'),
  open: z.int().describe('Endpoints that are left alone now.'),
});
const providerSchema = summarySchema.extend({ endpoints: z.array(endpointSchema) });
const breakerSchema = z.object({
  object: z.literal('provider.breaker'),
  provider: z.string(),
  state: z.enum(['open', 'closed']),
  until: z.iso.datetime().nullable(),
  endpoints: z.array(z.object({ model_id: z.string(), slug: z.string() })),
});

export const PROVIDER_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/providers',
    tag: 'Providers',
    summary: 'All providers that are on.',
    query: z.strictObject(PAGE),
    answer: listOf(summarySchema),
    run: ({ deps, query, now }) => {
      const of = byProvider(deps);
      const page = pageOf([...deps.catalog().providers().keys()].toSorted(), (id) => id, query);
      return { ...page, data: page.data.map((id) => summaryOf(id, of.get(id) ?? [], deps, now)) };
    },
  }),
  route({
    method: 'get',
    path: '/providers/{id}',
    tag: 'Providers',
    summary: 'One provider, with every endpoint: health, measured speed, price, and what is known of it.',
    answer: providerSchema,
    refusals: [404],
    run: ({ deps, param, now }) => {
      const id = existing(param('id'), deps);
      const endpoints = byProvider(deps).get(id) ?? [];
      return {
        ...summaryOf(id, endpoints, deps, now),
        endpoints: endpoints.map((endpoint) => endpointView(endpoint, deps.routing, now)),
      };
    },
  }),
  route({
    method: 'post',
    path: '/providers/{id}/breaker',
    tag: 'Providers',
    summary: 'Puts the endpoints of a provider aside for a time, or takes them back.',
    description:
      'An endpoint that was put aside is asked only when there is nothing better. `closed` also forgets what its own breaker and rate limits had found. It holds for this process, until it ends.',
    body: z.strictObject({
      state: z.enum(['open', 'closed']),
      model: z.string().optional().describe('Only the endpoints of this model.'),
      for_ms: z.int().min(1).max(LONGEST_MS).default(USUAL_MS).describe('How long it stays open.'),
      reason: z.string().max(200).default('put aside by hand').describe('What the route table says.'),
    }),
    answer: breakerSchema,
    refusals: [404],
    run: async ({ deps, param, body, now, record }) => {
      const id = existing(param('id'), deps);
      const all = byProvider(deps).get(id) ?? [];
      const endpoints = body.model === undefined ? all : ofModel(body.model, id, deps);
      const until = body.state === 'open' ? now + body.for_ms : null;
      const before = { open: openOf(endpoints, deps, now) };
      for (const endpoint of endpoints)
        if (until === null) deps.routing.takeBack(endpoint);
        else deps.routing.setAside(endpoint, until, body.reason);
      const after = { open: openOf(endpoints, deps, now), reason: body.reason };
      await record({ action: `provider.breaker.${body.state}`, target: id, before, after });
      return {
        object: 'provider.breaker' as const,
        provider: id,
        state: body.state,
        until: until === null ? null : new Date(until).toISOString(),
        endpoints: endpoints.map(({ modelId, slug }) => ({ model_id: modelId, slug })),
      };
    },
  }),
];

function byProvider({ catalog, routing }: ManagementDependencies): ReadonlyMap<string, readonly Endpoint[]> {
  return Map.groupBy(knownEndpoints(catalog(), routing), ({ provider }) => provider);
}

function summaryOf(
  id: string,
  endpoints: readonly Endpoint[],
  { catalog, routing }: ManagementDependencies,
  now: number,
): z.input<typeof summarySchema> {
  const healths = endpoints.flatMap((endpoint) => routing.seen(endpoint) ?? []);
  return {
    object: 'provider',
    id,
    name: catalog().providers().get(id) ?? id,
    protocols: [...new Set(endpoints.map(({ protocol }) => protocol))].toSorted(),
    models: new Set(endpoints.map(({ modelId }) => modelId)).size,
    running: healths.reduce((sum, { inFlight }) => sum + inFlight, 0),
    open: healths.filter((health) => health.standing(now).state === 'open').length,
  };
}

/** Endpoints that are left alone. */
function openOf(
  endpoints: readonly Endpoint[],
  { routing }: ManagementDependencies,
  now: number,
): readonly string[] {
  const isOpen = (endpoint: Endpoint): boolean => routing.seen(endpoint)?.standing(now).state === 'open';
  return endpoints.filter(isOpen).map(({ modelId, slug }) => `${modelId} at ${slug}`);
}

function existing(id: string, { catalog }: ManagementDependencies): string {
  if (catalog().providers().has(id)) return id;
  throw new GatewayError('not_found', `There is no provider ${JSON.stringify(id.slice(0, 100))} that is on.`);
}

function ofModel(model: string, provider: string, { catalog }: ManagementDependencies): readonly Endpoint[] {
  const found = catalog()
    .find(model)
    ?.endpoints.filter((endpoint) => endpoint.provider === provider);
  if (found && found.length > 0) return found;
  const name = JSON.stringify(model.slice(0, 200));
  throw new GatewayError('not_found', `model: ${provider} does not serve ${name}.`, { param: 'model' });
}
