// Response body of `GET /generation?id=`: the client's view of a record. It has both spellings that the implemented API's
// documentation has used (spec: product-beyond §9), and Dragoman's own members.
import type { JsonObject, MutableJsonObject } from '../../base/json/index.ts';
import type { Usage } from '../../canonical/index.ts';
import { asNumber, asObject } from '../../base/json/index.ts';
import { cacheWriteTokens, inputTokens, outputTokens, routeTable } from '../../canonical/index.ts';
import {
  ATTEMPT_MEMBERS,
  type AttemptRecord,
  type Cost,
  type ErrorSummary,
  GENERATION_MEMBERS,
  type GenerationRecord,
  shownMembers,
} from './record.ts';
import { outcomeOf, requestState } from './outcomes.ts';
import type { UnixMs } from '../../base/units.ts';

/**
 * Times are ISO 8601 in UTC, durations milliseconds, money USD. Unknown values are null, never 0.
 * @param attempts in order
 */
export function generationView(generation: GenerationRecord, attempts: readonly AttemptRecord[]): JsonObject {
  const g = generation;
  // The first content of an answer that was not streamed comes at its end. A failure has none.
  const first = g.firstContentAt ?? (g.error ? null : g.endedAt);
  const createdAt = isoTime(g.createdAt);
  const latency = first === null ? null : first - g.createdAt;
  const generationTime = first === null ? null : g.endedAt - first;
  const tokens = tokensView(g.usage);
  const view: MutableJsonObject = {
    id: g.id,
    generationId: g.id,
    generation_id: g.id,
    ...shownMembers(GENERATION_MEMBERS, g),
    model: g.model ?? g.requestedModel,
    createAt: createdAt,
    created_at: createdAt,
    generationTime,
    generation_time: generationTime,
    latency,
    nativeTokens: tokens,
    native_tokens: tokens,
    finishReason: g.finishReason,
    finish_reason: g.finishReason,
    usage: g.cost ? g.cost.usd : null,
    ratingResponses: ratingView(g.cost),
    requestRetryTimes: retriesAmong(attempts),
    finalRetry: true,
    estimated: g.usage ? g.usage.estimated : false,
    cost: costView(g.cost),
    report: g.report.map(({ path, action, reason }) => ({ path, action, reason })),
    route: g.route && routeTable(g.route, g.requestedModel),
    error: errorView(g.error),
    outcome: outcomeOf(g, attempts),
    state: requestState(g, attempts),
    duration_ms: Math.max(0, g.endedAt - g.createdAt),
    first_content_ms: g.firstContentAt === null ? null : g.firstContentAt - g.createdAt,
    tokens: g.usage && { input: inputTokens(g.usage), output: outputTokens(g.usage) },
    cost_usd: g.cost && g.cost.usd,
    unpriced: g.usage !== null && (g.cost?.usd ?? null) === null,
    attempted: [...new Set(attempts.map(({ provider }) => provider))],
    attempts: attempts.map((attempt) => attemptView(attempt, g.createdAt)),
  };
  if (g.replayOf !== null) view['replay_of'] = g.replayOf;
  if (g.content) view['content'] = { request: g.content.request, answer: g.content.answer };
  return view;
}

/**
 * Summary of a record for lists: without members that are expensive to read, and with the number of attempts only.
 */
export function generationSummaryView(
  generation: GenerationRecord,
  attempts: readonly AttemptRecord[],
): JsonObject {
  const short = { ...generation, route: null, report: [], content: null };
  const { route: _route, report: _report, ...view } = generationView(short, attempts);
  return { ...view, attempts: attempts.length };
}

/** Number of retries. In an answer of several turns, the first attempt of each turn is not a retry. */
function retriesAmong(attempts: readonly AttemptRecord[]): number {
  const turns = attempts.filter(({ outcome }) => outcome === 'completed').length;
  return Math.max(0, attempts.length - Math.max(1, turns));
}

/** @param beganAt start of the request in Unix milliseconds */
function attemptView(a: AttemptRecord, beganAt: UnixMs): JsonObject {
  const { firstContentAt: first } = a;
  return {
    ...shownMembers(ATTEMPT_MEMBERS, a),
    started_at: isoTime(a.startedAt),
    first_content_at: a.firstContentAt === null ? null : isoTime(a.firstContentAt),
    ended_at: isoTime(a.endedAt),
    started_ms: a.startedAt - beganAt,
    first_content_ms: first === null ? null : first - a.startedAt,
    generation_ms: first === null ? null : a.endedAt - first,
    latency: first === null ? null : first - a.startedAt,
    duration: a.endedAt - a.startedAt,
    tokens: tokensView(a.usage),
    cost: costView(a.cost),
    error: errorView(a.error),
  };
}

/** Token counts with OpenAI's names, plus classes that only some providers count. */
function tokensView(usage: Usage | null): JsonObject | null {
  if (!usage) return null;
  const prompt = inputTokens(usage);
  const completion = outputTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.input.cacheRead,
      cache_write_tokens: cacheWriteTokens(usage),
      cache_write_5m_tokens: usage.input.cacheWrite5m,
      cache_write_1h_tokens: usage.input.cacheWrite1h,
      audio_tokens: usage.input.audio,
      image_tokens: usage.input.image,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.output.reasoning,
      audio_tokens: usage.output.audio,
      accepted_prediction_tokens: usage.acceptedPrediction,
      rejected_prediction_tokens: usage.rejectedPrediction,
    },
    tool_calls: { ...usage.tools },
    ...(usage.inconsistent && { inconsistent: usage.inconsistent.map((conflict) => ({ ...conflict })) }),
  };
}

function costView(cost: Cost | null): JsonObject | null {
  return cost && { usd: cost.usd, items: { ...cost.items }, price: cost.price };
}

/** Cost in the format of the implemented API; its credits are USD here. `rate` is USD per million tokens, call or request. */
function ratingView(cost: Cost | null): JsonObject | null {
  if (!cost || cost.usd === null) return null;
  const price = asObject(cost.price);
  return {
    ...amounts(cost.usd),
    priceVersion: price['source'] ?? null,
    ratingDetails: Object.entries(cost.items).map(([feeItemCode, usd]) => ({
      feeItemCode,
      rate: asNumber(price[feeItemCode]) ?? null,
      ...amounts(usd),
    })),
  };
}

function amounts(usd: number): { billAmount: number; discountAmount: number; originAmount: number } {
  return { billAmount: usd, discountAmount: 0, originAmount: usd };
}

function errorView(error: ErrorSummary | null): JsonObject | null {
  return error && { kind: error.kind, message: error.message, upstream_status: error.upstreamStatus };
}

function isoTime(unixMs: UnixMs): string {
  return new Date(unixMs).toISOString();
}
