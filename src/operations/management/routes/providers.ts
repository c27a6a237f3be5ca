// Enabled providers: states of their endpoints, and disabling or enabling them by hand.
import { z } from 'zod';
import { keyHint } from '../../../accounts/auth/index.ts';
import { GatewayError, withoutSecrets, TEXTS } from '../../../canonical/index.ts';
import type { Endpoint } from '../../../catalog/index.ts';
import { shownTime } from '../../../base/runtime/clock.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import { endpointSchema, endpointView, knownEndpoints } from '../endpoint-view.ts';
import { ENDPOINT_STATES, type StateOfEndpoint } from '../endpoint-state.ts';
import { listOf, PAGE, pageOf } from '../page.ts';
import { dayView, problemText, type ProviderSummary, type RecentError } from '../provider-states.ts';
import { type RawCall, route, type Route } from '../route.ts';
import { isoTime } from '../time.ts';

/** Maximum duration for which an endpoint can be disabled, in case it is forgotten. */
const LONGEST_MS = 7 * 24 * 3_600_000;
const USUAL_MS = 3_600_000;
/** Maximum failed requests that are searched for errors of a provider. */
const MOST_FAILED = 1_000;

const time = z.iso.datetime().nullable();
const text = z.string().nullable();
const stateSchema = z
  .enum(ENDPOINT_STATES)
  .describe(
    'Based on the last 15 minutes, or else on the last 20 attempts within 24 hours. Rules: `docs/management.md`.',
  );
const problemSchema = z
  .object({
    kind: z.string(),
    status: z.int().nullable(),
    text: z.string().describe('Short description.'),
    message: z.string().describe(TEXTS.providersWords),
    since: time,
  })
  .nullable();
const providerStateSchema = {
  state: stateSchema,
  state_since: time.describe('Start of the problem; null: no problem, or unknown.'),
  state_until: time.describe('Time until which it is disabled.'),
  as_of: time.describe('End of the last attempt, if it is more than 15 minutes ago.'),
  last_attempt_at: time,
};

const summarySchema = z.object({
  object: z.literal('provider'),
  id: z.string(),
  name: z.string(),
  protocols: z.array(z.string()),
  models: z.int().describe('Number of listed models that it serves.'),
  running: z.int().describe(TEXTS.runningAttempts),
  open: z.int().describe('Endpoints that are currently skipped.'),
  ...providerStateSchema,
  disabled_by: z.object({ name: z.string(), reason: text }).nullable(),
  problem: problemSchema,
  worst: z
    .object({ model_id: z.string(), slug: z.string(), state: stateSchema })
    .nullable()
    .describe('Endpoint that determines the state of the provider; null: none.'),
  endpoints_by_state: z.partialRecord(stateSchema, z.int()),
  day: z
    .object({
      requests: z.number().describe('Requests that were served here, or tried here last.'),
      attempts: z.number(),
      failed_attempts: z.number(),
      good_share: z.number().nullable().describe('Share of successful attempts, 0 to 1; null: no attempts.'),
      usd: z.number().nullable().describe(TEXTS.noKnownPrice),
      unpriced_requests: z.number(),
      first_content_ms_p95: z.number().nullable(),
    })
    .describe('The last 24 hours.'),
  trend: z
    .array(z.object({ start: z.iso.datetime(), attempts: z.number(), failed_attempts: z.number() }))
    .describe('Hours that overlap the last 24 hours. Their attempts add up to those of `day`.'),
  effect: z.object({
    rerouted: z
      .int()
      .describe('Requests of the last 24 hours that another provider served after this one failed.'),
    failed: z.int().describe('Failed requests that were tried here last.'),
  }),
});
const providerSchema = summarySchema.extend({
  endpoints: z.array(
    endpointSchema.extend({
      ...providerStateSchema,
      window: z.object({ attempts: z.int(), good: z.int(), bad: z.int(), rate_limited: z.int() }),
    }),
  ),
  recent_errors: z
    .array(
      z.object({
        kind: z.string(),
        status: z.int().nullable(),
        text: z.string().describe('Short description.'),
        message: z.string(),
        count: z.int().describe('Number among the last 1,000 failed requests of the last 24 hours.'),
        last_at: z.iso.datetime(),
        example_id: z.string().describe('Id of an example generation.'),
        endpoint: z.string(),
      }),
    )
    .describe('The last five different errors.'),
  base_urls: z.array(z.string()),
  key_hint: text.describe('First and last characters of its API key; null: none.'),
});
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
    summary: 'Lists enabled providers, failing ones first.',
    query: z.strictObject(PAGE),
    answer: listOf(summarySchema),
    run: async (call) => {
      const page = pageOf(await call.states.all(), ({ id }) => id, call.query);
      return { ...page, data: await Promise.all(page.data.map((summary) => summaryOf(summary, call))) };
    },
  }),
  route({
    method: 'get',
    path: '/providers/{id}',
    tag: 'Providers',
    summary:
      'Returns one provider with its endpoints: state, health, measured speed, price and known properties.',
    answer: providerSchema,
    refusals: [404],
    run: async (call) => {
      const { deps, states, param } = call;
      const id = existing(param('id'), deps);
      const summary = (await states.all()).find((each) => each.id === id);
      if (!summary) throw unknown(id);
      return {
        ...(await summaryOf(summary, call)),
        endpoints: summary.endpoints.map((each) => ({
          ...endpointView(each.endpoint, deps),
          ...stateView(each, deps),
          window: {
            attempts: each.attempts,
            good: each.good,
            bad: each.bad,
            rate_limited: each.limited,
          },
        })),
        recent_errors: (await states.errorsOf(id, MOST_FAILED)).map((error) => ({
          kind: error.kind,
          status: error.status,
          text: problemText(error),
          message: error.message,
          count: error.count,
          last_at: new Date(error.lastMs).toISOString(),
          example_id: error.exampleId,
          endpoint: error.endpoint,
        })),
        base_urls: [
          ...new Set(summary.endpoints.map(({ endpoint }) => withoutSecrets(endpoint.baseUrl))),
        ].toSorted(),
        key_hint: keyHintOf(summary),
      };
    },
  }),
  route({
    method: 'post',
    path: '/providers/{id}/breaker',
    tag: 'Providers',
    summary: 'Disables the endpoints of a provider for a time, or enables them again.',
    description:
      'A disabled endpoint is used only if there is no better one. `closed` also resets its breaker and rate limits. Applies to this process until it ends.',
    body: z.strictObject({
      state: z.enum(['open', 'closed']),
      model: z.string().optional().describe('Only the endpoints of this model.'),
      for_ms: z
        .int()
        .min(1)
        .max(LONGEST_MS)
        .default(USUAL_MS)
        .describe('Milliseconds for which the endpoints stay disabled.'),
      reason: z
        .string()
        .max(200)
        .default('disabled by an operator')
        .describe('Reason shown in the route table.'),
    }),
    answer: breakerSchema,
    refusals: [404],
    run: async ({ deps, param, body, record }) => {
      const id = existing(param('id'), deps);
      const all = byProvider(deps).get(id) ?? [];
      const endpoints = body.model === undefined ? all : ofModel(body.model, id, deps);
      const until = body.state === 'open' ? deps.clock.now() + body.for_ms : null;
      const before = { open: openOf(endpoints, deps) };
      for (const endpoint of endpoints)
        if (until === null) deps.routing.enable(endpoint);
        else deps.routing.disable(endpoint, until, body.reason);
      const after = { open: openOf(endpoints, deps), reason: body.reason };
      await record({ action: `provider.breaker.${body.state}`, target: id, before, after });
      return {
        object: 'provider.breaker' as const,
        provider: id,
        state: body.state,
        until: isoTime(shownTime(deps.clock, until)),
        endpoints: endpoints.map(({ modelId, slug }) => ({ model_id: modelId, slug })),
      };
    },
  }),
];

function byProvider({ catalog, routing }: ManagementDependencies): ReadonlyMap<string, readonly Endpoint[]> {
  return Map.groupBy(knownEndpoints(catalog(), routing), ({ provider }) => provider);
}

async function summaryOf(
  { id, state, worst, endpoints, counts, day, trend, errors, rerouted, failed }: ProviderSummary,
  { deps }: Pick<RawCall, 'deps'>,
): Promise<z.input<typeof summarySchema>> {
  const { catalog, routing, clock } = deps;
  const healths = endpoints.flatMap(({ endpoint }) => routing.seen(endpoint) ?? []);
  const own = worst ? stateView(worst, deps) : NO_STATE;
  return {
    object: 'provider',
    id,
    name: catalog().providers().get(id) ?? id,
    protocols: [...new Set(endpoints.map(({ endpoint }) => endpoint.protocol))].toSorted(),
    models: new Set(endpoints.map(({ endpoint }) => endpoint.modelId)).size,
    running: healths.reduce((sum, { inFlight }) => sum + inFlight, 0),
    open: healths.filter((health) => health.availability(clock.now()).state === 'open').length,
    ...own,
    last_attempt_at: latest(endpoints.map((each) => stateView(each, deps).last_attempt_at)),
    disabled_by: state === 'disabled' ? await disabledBy(id, worst?.reason ?? null, deps) : null,
    problem: problemOf(errors[0], own.state_since),
    worst: worst ? { model_id: worst.endpoint.modelId, slug: worst.endpoint.slug, state: worst.state } : null,
    endpoints_by_state: { ...counts },
    day: dayView(day),
    trend: trend.map((hour) => ({
      start: new Date(hour.startMs).toISOString(),
      attempts: hour.attempts,
      failed_attempts: hour.failed,
    })),
    effect: { rerouted, failed },
  };
}

const NO_STATE = {
  state: 'no_traffic' as const,
  state_since: null,
  state_until: null,
  as_of: null,
  last_attempt_at: null,
};

/** State of an endpoint, with wall-clock times. */
function stateView(
  { state, sinceMs, untilMs, asOfMs, lastAttemptMs }: StateOfEndpoint,
  { clock }: Pick<ManagementDependencies, 'clock'>,
) {
  const shown = (ms: number | null): string | null => isoTime(shownTime(clock, ms));
  return {
    state,
    state_since: shown(sinceMs),
    state_until: shown(untilMs),
    as_of: shown(asOfMs),
    last_attempt_at: shown(lastAttemptMs),
  };
}

function latest(times: readonly (string | null)[]): string | null {
  return (
    times
      .filter((each) => each !== null)
      .toSorted()
      .at(-1) ?? null
  );
}

/** Last error of a provider as a problem. */
function problemOf(error: RecentError | undefined, since: string | null): z.input<typeof problemSchema> {
  if (!error) return null;
  const { kind, status, message } = error;
  return { kind, status, text: problemText(error), message, since };
}

/** The operator who disabled it, from the audit log. */
async function disabledBy(
  id: string,
  reason: string | null,
  { audit }: Pick<ManagementDependencies, 'audit'>,
): Promise<{ name: string; reason: string | null }> {
  const { entries } = await audit.list({ limit: 1, action: 'provider.breaker.open', target: id });
  return { name: entries[0]?.actor.name ?? 'an operator', reason };
}

/** Disabled endpoints. */
function openOf(
  endpoints: readonly Endpoint[],
  { routing, clock }: ManagementDependencies,
): readonly string[] {
  const isOpen = (endpoint: Endpoint): boolean =>
    routing.seen(endpoint)?.availability(clock.now()).state === 'open';
  return endpoints.filter(isOpen).map(({ modelId, slug }) => `${modelId} at ${slug}`);
}

function existing(id: string, { catalog }: ManagementDependencies): string {
  if (catalog().providers().has(id)) return id;
  throw unknown(id);
}

function unknown(id: string): GatewayError {
  return new GatewayError(
    'not_found',
    `Provider ${JSON.stringify(id.slice(0, 100))} not found or not enabled.`,
  );
}

function ofModel(model: string, provider: string, { catalog }: ManagementDependencies): readonly Endpoint[] {
  const found = catalog()
    .find(model)
    ?.endpoints.filter((endpoint) => endpoint.provider === provider);
  if (found && found.length > 0) return found;
  const name = JSON.stringify(model.slice(0, 200));
  throw new GatewayError('not_found', `model: ${provider} does not serve ${name}.`, { param: 'model' });
}

/** Endpoints of a provider share a key, but each protocol may have its own. */
function keyHintOf({ endpoints }: Pick<ProviderSummary, 'endpoints'>): string | null {
  const hints = endpoints.flatMap(({ endpoint: { auth } }) => (auth ? [keyHint(auth.key.reveal())] : []));
  return [...new Set(hints)].join(', ') || null;
}
