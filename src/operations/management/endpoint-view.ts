// An endpoint as shown to operators: facts, prices, health. Does not contain its credential.
import { z } from 'zod';
import { withoutSecrets, TEXTS } from '../../canonical/index.ts';
import type { Catalog, Endpoint, Price, Rate } from '../../catalog/index.ts';
import type { EndpointHealth, EndpointId, RoutingState } from '../../engine/routing/index.ts';
import { type Clock, shownTime } from '../../base/runtime/clock.ts';
import { isoTime } from './time.ts';

const rate = z.union([
  z.number(),
  z.object({
    base: z.number(),
    steps: z
      .array(z.object({ above: z.number(), rate: z.number() }))
      .describe(
        'Prices of long prompts: the last step whose `above` is exceeded by the prompt tokens applies.',
      ),
  }),
]);
const anyRate = rate.optional();

const priceSchema = z
  .object({
    input: anyRate,
    output: anyRate,
    cache_read: anyRate,
    cache_write_5m: anyRate,
    cache_write_1h: anyRate,
    input_audio: anyRate,
    output_audio: anyRate,
    input_image: anyRate,
    output_reasoning: anyRate,
    request: z.number().optional().describe('USD per request.'),
    tools: z.record(z.string(), z.number()).optional().describe('USD per call.'),
    source: z.string(),
    kept: z.boolean().describe('Whether newer price data no longer contains it.'),
  })
  .describe('USD per million tokens. An absent class is unknown, not free.');

const milliseconds = z.number().nullable();

export const endpointSchema = z.object({
  object: z.literal('endpoint'),
  slug: z.string().describe('Name in requests and records.'),
  provider: z.string(),
  model_id: z.string(),
  model: z.string().describe('Name of the model at the provider.'),
  protocol: z.string(),
  base_url: z.string(),
  listed: z
    .boolean()
    .describe(
      'False: the model is in no catalog; a client requested it by name. At most 300 of these are kept.',
    ),
  health: z.object({
    state: z
      .enum(['closed', 'open', 'half-open'])
      .describe('`closed`: in use; `open`: skipped; `half-open`: being tried again.'),
    until: z.iso.datetime().nullable(),
    reason: z.string().nullable(),
    running: z.int().describe(TEXTS.runningAttempts),
    first_token_ms: milliseconds,
    answer_ms: milliseconds,
    p95_first_token_ms: milliseconds,
    p95_answer_ms: milliseconds,
    tokens_per_second: z.number().nullable(),
    cache_hit_rate: z.number().nullable(),
    success_rate: z.number().nullable(),
    failures: z
      .record(z.string(), z.int())
      .describe('Recent failures by kind; discarded after a few minutes.'),
    measured_at: z.iso.datetime().nullable(),
  }),
  price: priceSchema.nullable(),
  facts: z.object({
    context_length: z.int().nullable(),
    learned_context_length: z.int().nullable(),
    max_output_tokens: z.int().nullable(),
    reasoning: z.object({
      style: z.string().nullable().describe('Null: unknown whether it reasons.'),
      mandatory: z.boolean(),
      efforts: z.array(z.string()).nullable(),
      min_budget: z.int(),
      max_budget: z.int().nullable(),
      format: z.string().nullable(),
    }),
    unsupported_parameters: z.array(z.string()),
    hosted_tools: z.array(z.string()),
    faithful: z.boolean(),
    compacts: z.boolean(),
    quality: z.number().nullable(),
  }),
});

type ShownClock = Pick<Clock, 'now' | 'wall'>;
/** Inputs of the view. */
interface ViewDependencies {
  readonly routing: RoutingState;
  readonly catalog: () => Catalog;
  readonly clock: ShownClock;
}

type EndpointView = z.input<typeof endpointSchema>;

export function endpointView(
  endpoint: Endpoint,
  { routing, catalog, clock }: ViewDependencies,
): EndpointView {
  return {
    object: 'endpoint',
    slug: endpoint.slug,
    provider: endpoint.provider,
    model_id: endpoint.modelId,
    model: endpoint.model,
    protocol: endpoint.protocol,
    base_url: withoutSecrets(endpoint.baseUrl),
    listed: catalog().isListed(endpoint.modelId),
    health: healthView(routing.seen(endpoint), clock),
    price: endpoint.price && priceView(endpoint.price),
    facts: factsView(endpoint, routing.seen(endpoint)?.learnedContext(clock.now()) ?? null),
  };
}

function healthView(health: EndpointHealth | null, clock: ShownClock): EndpointView['health'] {
  const nowMs = clock.now();
  const standing = health?.availability(nowMs);
  return {
    state: standing?.state ?? 'closed',
    until: isoTime(shownTime(clock, standing?.until ?? null)),
    reason: standing?.reason ?? null,
    running: health?.inFlight ?? 0,
    first_token_ms: health?.firstTokenMs ?? null,
    answer_ms: health?.answerMs ?? null,
    p95_first_token_ms: health?.p95Ms(true) ?? null,
    p95_answer_ms: health?.p95Ms(false) ?? null,
    tokens_per_second: health?.tokensPerSecond ?? null,
    cache_hit_rate: health?.cacheHitRate ?? null,
    success_rate: health?.successRate(nowMs) ?? null,
    failures: wholeCounts(health?.failures(nowMs) ?? {}),
    measured_at: isoTime(shownTime(clock, health?.measuredAt ?? null)),
  };
}

/** Rounded, because these counts decay over time. */
function wholeCounts(counts: Readonly<Record<string, number>>): Record<string, number> {
  const rounded = Object.entries(counts).map(([kind, count]) => [kind, Math.round(count)] as const);
  return Object.fromEntries(rounded.filter(([, count]) => count > 0));
}

function factsView(endpoint: Endpoint, learned: number | null): EndpointView['facts'] {
  return {
    context_length: endpoint.contextLength,
    learned_context_length: learned,
    max_output_tokens: endpoint.maxOutputTokens,
    reasoning: {
      style: endpoint.isReasoningKnown ? endpoint.reasoningStyle : null,
      mandatory: endpoint.reasoningMandatory,
      efforts: endpoint.efforts && [...endpoint.efforts],
      min_budget: endpoint.reasoningBudget.min,
      max_budget: endpoint.reasoningBudget.max,
      format: endpoint.reasoningFormat,
    },
    unsupported_parameters: [...endpoint.unsupported].toSorted(),
    hosted_tools: [...endpoint.hostedTools].toSorted(),
    faithful: endpoint.faithful,
    compacts: endpoint.compacts ?? false,
    quality: endpoint.quality,
  };
}

function priceView(price: Price): EndpointView['price'] {
  return {
    input: rateView(price.input),
    output: rateView(price.output),
    cache_read: rateView(price.cacheRead),
    cache_write_5m: rateView(price.cacheWrite5m),
    cache_write_1h: rateView(price.cacheWrite1h),
    input_audio: rateView(price.inputAudio),
    output_audio: rateView(price.outputAudio),
    input_image: rateView(price.inputImage),
    output_reasoning: rateView(price.outputReasoning),
    request: price.request,
    tools: price.tools && { ...price.tools },
    source: price.source,
    kept: price.isKept ?? false,
  };
}

function rateView(value: Rate | undefined): z.input<typeof rate> | undefined {
  if (value === undefined || typeof value === 'number') return value;
  return { base: value.base, steps: value.steps.map((step) => ({ ...step })) };
}

/** All listed endpoints, and unlisted ones that were used since the start. */
export function knownEndpoints(catalog: Catalog, routing: RoutingState): readonly Endpoint[] {
  const listed = catalog.known().flatMap(({ endpoints }) => endpoints);
  const keyOf = ({ modelId, slug }: EndpointId): string => JSON.stringify([modelId, slug]);
  const known = new Map(listed.map((endpoint) => [keyOf(endpoint), endpoint]));
  for (const id of routing.remembered()) {
    if (known.has(keyOf(id))) continue;
    // The configuration may have changed since, and the endpoint may no longer exist.
    const found = catalog.find(id.modelId)?.endpoints.find((each) => keyOf(each) === keyOf(id));
    if (found) known.set(keyOf(id), found);
  }
  return [...known.values()];
}
