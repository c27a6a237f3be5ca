// Compact form of a routing decision, as stored in records without default values, and its expansion for people. Part of
// this room because records are also read where no routing happens.
import { isJsonArray, type JsonObject, type JsonValue } from '../base/json/index.ts';
import type { DurationMs } from '../base/units.ts';

/**
 * One endpoint, in the order of attempts. Trailing nulls are left out. `provider` is null if it equals the endpoint's name,
 * `reason` if it is `priority` and its position, `state` if it is `closed`; `inFlight`, `isHolder` and `isLearned` if 0.
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
  /** How the models were chosen; null if the request named one. */
  models?: JsonObject | null,
  excluded?: readonly (readonly [model: string, endpoint: string | null, reason: string])[] | null,
  /** Id of the generation that the request continues. Only the upstream that stores its answer can serve it. */
  follows?: string | null,
];

/** Strategy of requests without routing preferences. */
export const USUAL_STRATEGY: TracedStrategy = ['priority', null, true, 'error', false];

/** Reason of a candidate in its configured position. */
export function usualReason(position: number): string {
  return `priority ${position}`;
}

/** Removes trailing nulls. */
export function trimmed<T extends readonly unknown[]>(values: T): T {
  let length = values.length;
  while (length > 0 && (values[length - 1] ?? null) === null) length--;
  return (length === values.length ? values : values.slice(0, length)) as T;
}

/**
 * Expands a decision for `/route/explain` and records. Times are in milliseconds, prices in USD per million tokens, rates
 * from 0 to 1; null: unknown.
 * @param requestedModel model name as sent by the client
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

/** Decision for a request that continues an answer stored at its upstream. @param id id of that generation */
export function following([candidates, strategy, models, excluded]: RouteTrace, id: string): RouteTrace {
  return [candidates, strategy ?? null, models ?? null, excluded ?? null, id];
}

/** Id of the generation that a request continued; undefined for a first turn. */
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

/** Reads a decision from a record; null if it is invalid. Records of earlier versions contain the expanded form. */
export function readRoute(value: JsonValue | undefined): RouteTrace | JsonObject | null {
  if (isJsonArray(value)) return value as unknown as RouteTrace;
  return typeof value === 'object' && value !== null ? (value as JsonObject) : null;
}

/** Expands a decision from a record. */
export function routeTable(route: RouteTrace | JsonObject, requestedModel: string): JsonObject {
  return isTrace(route) ? expandRoute(route, requestedModel) : route;
}

function isTrace(route: RouteTrace | JsonObject): route is RouteTrace {
  return Array.isArray(route);
}
