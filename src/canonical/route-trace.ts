// A routing decision in few values, as every record keeps it, and the table that people read of it: what is as usual is
// left out. Here and not in `routing/`, for records are read where nothing is routed.
import { isJsonArray, type JsonObject, type JsonValue } from '../base/json/index.ts';
import type { DurationMs } from '../base/units.ts';

/**
 * One endpoint, in the order of trying. Values at the end that are null are left out.
 * `provider` is null where it is the endpoint's own name; `reason` where it is `priority` and its position; `state` where
 * it is `closed`; `inFlight`, `isHolder` and `isLearned` for 0.
 */
export type TracedCandidate = readonly [
  endpoint: string,
  model: string,
  provider?: string | null,
  reason?: string | null,
  price?: readonly [input: number | null, output: number | null] | null,
  contextLength?: number | null,
  score?: number | null,
  firstTokenMs?: DurationMs | null,
  answerMs?: DurationMs | null,
  tokensPerSecond?: number | null,
  successRate?: number | null,
  inFlight?: number | null,
  state?: string | null,
  cacheHitRate?: number | null,
  isHolder?: 1 | null,
  isLearned?: 1 | null,
];

/** Type, primary factor, fallback, stream safety, hedge. */
export type TracedStrategy = readonly [
  type: string,
  factor: string | null,
  fallback: boolean | readonly string[],
  streamSafety: string,
  hedge: boolean,
];

/** @see expandRoute */
export type RouteTrace = readonly [
  candidates: readonly TracedCandidate[],
  strategy?: TracedStrategy | null,
  /** How the models were chosen; null when one was named. */
  models?: JsonObject | null,
  excluded?: readonly (readonly [model: string, endpoint: string | null, reason: string])[] | null,
  /** Id of the generation whose answer the upstream keeps, and which the request goes on from: there is no other choice. */
  follows?: string | null,
];

/** Strategy of requests without wishes. */
export const USUAL_STRATEGY: TracedStrategy = ['priority', null, true, 'error', false];

/** The reason of a candidate that stands where the operator put it. */
export function usualReason(position: number): string {
  return `priority ${position}`;
}

/** The list without the nulls at its end. */
export function trimmed<T extends readonly unknown[]>(values: T): T {
  let length = values.length;
  while (length > 0 && (values[length - 1] ?? null) === null) length--;
  return (length === values.length ? values : values.slice(0, length)) as T;
}

/**
 * The table of a decision, as `/route/explain` and records show it. Times in milliseconds, prices in USD per million
 * tokens, rates from 0 to 1; null is unknown.
 * @param requestedModel as the client wrote it
 */
export function expandRoute(trace: RouteTrace, requestedModel: string): JsonObject {
  const [candidates, strategy, models, excluded, follows] = trace;
  const [type, factor, fallback, streamSafety, hedge] = strategy ?? USUAL_STRATEGY;
  return {
    requested_model: requestedModel,
    strategy: {
      type,
      primary_factor: factor,
      fallback: typeof fallback === 'boolean' ? fallback : [...fallback],
      stream_safety: streamSafety,
      hedge,
    },
    models: models ?? null,
    candidates: candidates.map((candidate, index) => expandCandidate(candidate, index + 1)),
    excluded: (excluded ?? []).map(([model, endpoint, reason]) => ({ model, endpoint, reason })),
    ...(follows !== undefined && { follows }),
  };
}

/** The decision about a request that goes on from an answer which its upstream keeps. @param id of that generation */
export function following([candidates, strategy, models, excluded]: RouteTrace, id: string): RouteTrace {
  return [candidates, strategy ?? null, models ?? null, excluded ?? null, id];
}

/** Id of the generation that a request went on from; undefined where it began. */
export function followedIn(route: RouteTrace | JsonObject | null): string | undefined {
  return route !== null && isTrace(route) ? (route[4] ?? undefined) : undefined;
}

function expandCandidate(candidate: TracedCandidate, position: number): JsonObject {
  const [endpoint, model, provider, reason, price, context, score, first, whole, speed, success, ...rest] =
    candidate;
  const [inFlight, state, cacheHitRate, isHolder, isLearned] = rest;
  return {
    position,
    endpoint,
    provider: provider ?? endpoint,
    model,
    score: score ?? null,
    reason: reason ?? usualReason(position),
    price: price ? { input: price[0], output: price[1] } : null,
    context_length: context ?? null,
    context_learned: isLearned === 1,
    first_token_ms: first ?? null,
    answer_ms: whole ?? null,
    tokens_per_second: speed ?? null,
    success_rate: success ?? null,
    in_flight: inFlight ?? 0,
    state: state ?? 'closed',
    cache_hit_rate: cacheHitRate ?? null,
    holds_cache: isHolder === 1,
  };
}

/** A decision as a record has it; null for what is none. Records of earlier versions hold the whole table. */
export function readRoute(value: JsonValue | undefined): RouteTrace | JsonObject | null {
  if (isJsonArray(value)) return value as unknown as RouteTrace;
  return typeof value === 'object' && value !== null ? (value as JsonObject) : null;
}

/** The table of what a record holds of the decision. */
export function routeTable(route: RouteTrace | JsonObject, requestedModel: string): JsonObject {
  return isTrace(route) ? expandRoute(route, requestedModel) : route;
}

function isTrace(route: RouteTrace | JsonObject): route is RouteTrace {
  return Array.isArray(route);
}
