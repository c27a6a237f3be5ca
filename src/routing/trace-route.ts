// Writes down a decision, for the record of the request and for whoever asks how it would be routed.
import {
  trimmed,
  USUAL_STRATEGY,
  usualReason,
  type JsonObject,
  type RouteTrace,
  type RoutingWishes,
  type TracedCandidate,
  type TracedStrategy,
} from '../canonical/index.ts';
import { contextOf } from './context-length.ts';
import { baseRate } from './factors/index.ts';
import type { Candidate, Exclusion, PlanContext } from './plan-types.ts';
import type { EndpointId } from './state.ts';

export interface TraceInput {
  readonly wishes: RoutingWishes;
  /** How the models were chosen; null when one was named. */
  readonly basis: JsonObject | null;
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  readonly holder: EndpointId | null;
  readonly context: PlanContext;
}

/** The decision, with what was known of each endpoint at this moment. */
export function traceRoute({ wishes, basis, candidates, excluded, holder, context }: TraceInput): RouteTrace {
  return trimmed([
    candidates.map((candidate, index) => traceCandidate(candidate, index + 1, holder, context)),
    strategyOf(wishes),
    basis,
    excluded.length === 0
      ? undefined
      : excluded.map(({ modelId, endpoint, reason }) => [modelId, endpoint, reason] as const),
  ] as unknown as RouteTrace);
}

function strategyOf({ type, factor, fallback, streamSafety, hedge }: RoutingWishes): TracedStrategy | null {
  const isUsual =
    (type ?? 'priority') === 'priority' &&
    factor === undefined &&
    (fallback ?? true) === true &&
    (streamSafety ?? 'error') === 'error' &&
    hedge !== true;
  if (isUsual) return null;
  const [usualType, , usualFallback, usualSafety] = USUAL_STRATEGY;
  return [
    type ?? usualType,
    factor ?? null,
    typeof fallback === 'object' ? [...fallback.names] : (fallback ?? usualFallback),
    streamSafety ?? usualSafety,
    hedge ?? false,
  ];
}

function traceCandidate(
  { endpoint, score, reason }: Candidate,
  position: number,
  holder: EndpointId | null,
  { state, nowMs }: PlanContext,
): TracedCandidate {
  const health = state.health(endpoint);
  const { slug, provider, modelId, price } = endpoint;
  const standing = health.standing(nowMs).state;
  const isHolder = holder !== null && holder.slug === slug && holder.modelId === modelId;
  return trimmed([
    slug,
    modelId,
    provider === slug ? null : provider,
    reason === usualReason(position) ? null : reason,
    price && [baseRate(price.input), baseRate(price.output)],
    contextOf(endpoint, health, nowMs),
    rounded(score, 10_000),
    rounded(health.firstTokenMs, 10),
    rounded(health.answerMs, 10),
    rounded(health.tokensPerSecond, 10),
    rounded(health.successRate(nowMs), 10_000),
    health.inFlight || null,
    standing === 'closed' ? null : standing,
    rounded(health.cacheHitRate, 10_000),
    isHolder ? 1 : null,
    health.learnedContext(nowMs) === null ? null : 1,
  ]);
}

/** @param parts per unit: 10 for one decimal */
function rounded(value: number | null, parts: number): number | null {
  return value === null ? null : Math.round(value * parts) / parts;
}
