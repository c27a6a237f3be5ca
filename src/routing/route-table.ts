// The decision as a table: kept with the generation, returned by `/route/explain`, printed by `dragoman explain`.
import type { CanonicalRequest, JsonObject, RoutingWishes } from '../canonical/index.ts';
import { contextOf } from './context-length.ts';
import { baseRate } from './factors/index.ts';
import type { Candidate, Exclusion, PlanContext } from './plan-types.ts';
import type { EndpointHealth, EndpointId } from './state.ts';

export interface RouteTableInput {
  readonly request: CanonicalRequest;
  readonly wishes: RoutingWishes;
  /** How the models were chosen; null when one was named. */
  readonly basis: JsonObject | null;
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  readonly holder: EndpointId | null;
  readonly context: PlanContext;
}

/** Times in milliseconds, prices in USD per million tokens, rates from 0 to 1; null is unknown. */
export function routeTable(input: RouteTableInput): JsonObject {
  const { request, wishes, basis, candidates, excluded, holder, context } = input;
  const { fallback } = wishes;
  return {
    requested_model: request.model,
    strategy: {
      type: wishes.type ?? 'priority',
      primary_factor: wishes.factor ?? null,
      fallback: typeof fallback === 'object' ? [...fallback.names] : (fallback ?? true),
      stream_safety: wishes.streamSafety ?? 'error',
      hedge: wishes.hedge ?? false,
    },
    models: basis,
    candidates: candidates.map(({ endpoint, score, reason }, index) => {
      const health = context.state.health(endpoint);
      return {
        position: index + 1,
        endpoint: endpoint.slug,
        provider: endpoint.provider,
        model: endpoint.modelId,
        score: score === null ? null : rounded(score, 10_000),
        reason,
        price: endpoint.price && {
          input: baseRate(endpoint.price.input),
          output: baseRate(endpoint.price.output),
        },
        context_length: contextOf(endpoint, health, context.nowMs),
        context_learned: health.learnedContext(context.nowMs) !== null,
        ...measures(health, context.nowMs),
        holds_cache: holder?.slug === endpoint.slug && holder.modelId === endpoint.modelId,
      };
    }),
    excluded: excluded.map(({ modelId, endpoint, reason }) => ({ model: modelId, endpoint, reason })),
  };
}

function measures(health: EndpointHealth, nowMs: number): JsonObject {
  return {
    first_token_ms: rounded(health.firstTokenMs, 10),
    answer_ms: rounded(health.answerMs, 10),
    tokens_per_second: rounded(health.tokensPerSecond, 10),
    success_rate: rounded(health.successRate(nowMs), 10_000),
    in_flight: health.inFlight,
    state: health.standing(nowMs).state,
    cache_hit_rate: rounded(health.cacheHitRate, 10_000),
  };
}

/** @param parts per unit: 10 for one decimal */
function rounded(value: number | null, parts: number): number | null {
  return value === null ? null : Math.round(value * parts) / parts;
}
