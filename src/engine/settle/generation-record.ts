// What the ledger keeps of one request. Only the shape: what happened is known by whoever did it.
import type { GatewayError, JsonValue, Report, RequestOutline, RouteTrace } from '../../canonical/index.ts';
import type { GenerationRecord } from '../../ledger/index.ts';
import { withoutCredentials } from '../../protocols/index.ts';
import type { Arrival } from '../arrival.ts';
import { type Attempt, summariseError } from '../attempt/index.ts';
import type { Trail } from '../trail.ts';
import { hasFailed } from './has-failed.ts';

/** Longest model name that is kept of a request that named nonsense, in characters. */
const MAX_MODEL_CHARS = 256;
/** Largest prompt or answer kept by content logging, in characters of JSON. */
const MAX_CONTENT_CHARS = 1_000_000;

/** What became of a request, as far as it came. */
export interface Outcome {
  readonly arrival: Arrival;
  /** As its client meant it; undefined where it could not be decoded. */
  readonly request: RequestOutline | undefined;
  /** The decision; null where there was none. */
  readonly route: RouteTrace | null;
  readonly trail: Trail;
  /** The attempts whose answers the client gets, in their order; none where nobody answered. */
  readonly turns: readonly Attempt[];
  readonly report: Report;
  /** How many turns of models they are. */
  readonly turnCount: number;
  /** Undefined when it was answered. */
  readonly failure: GatewayError | undefined;
  /** True when its client had left before the end. */
  readonly cancelled: boolean;
  /** What the answer was, in the client's own protocol, when content is logged; else null. */
  readonly content: JsonValue;
}

/** @param status HTTP status sent to the client */
export function generationRecord(
  outcome: Outcome,
  endUser: GenerationRecord['endUser'],
  status: number,
  endedAtMs: number,
): GenerationRecord {
  const { arrival, request, trail, turns, failure } = outcome;
  const { call } = arrival;
  const served = turns.at(-1);
  const requestedModel =
    typeof request?.model === 'string' ? request.model : (call.route?.model ?? modelOf(call.json));
  const finish = served?.meter.finish ?? null;
  return {
    id: arrival.id,
    keyId: call.principal.keyId,
    projectId: call.principal.projectId,
    endUser,
    api: call.api,
    protocol: call.protocol.name,
    requestedModel: requestedModel.slice(0, MAX_MODEL_CHARS),
    model: served?.endpoint.modelId ?? null,
    provider: served?.endpoint.provider ?? null,
    endpoint: served?.endpoint.slug ?? null,
    lane: served?.lane ?? null,
    streamed: request?.stream ?? false,
    createdAt: arrival.createdAt,
    firstContentAt: turns[0]?.meter.firstContentAt ?? null,
    endedAt: endedAtMs,
    status,
    finishReason: finish?.reason ?? null,
    nativeFinishReason: finish?.raw ?? null,
    cancelled: outcome.cancelled,
    attempts: trail.attempts.length,
    turns: Math.max(1, outcome.turnCount),
    replayOf: call.replayOf ?? null,
    usage: trail.usage(turns.slice(0, -1), served?.charge().usage) ?? null,
    cost: trail.cost(),
    report: outcome.report.entries,
    route: outcome.route,
    error: failure ? summariseError(failure) : null,
    metadata: request?.metadata ?? null,
    content: call.tape?.keeps(hasFailed(trail, failure))
      ? { request: bounded(withoutCredentials(call.json as JsonValue)), answer: bounded(outcome.content) }
      : null,
  };
}

function modelOf(json: unknown): string {
  const model = typeof json === 'object' && json !== null ? (json as { model?: unknown }).model : undefined;
  return typeof model === 'string' ? model : '';
}

function bounded(value: JsonValue): JsonValue {
  const text = JSON.stringify(value ?? null);
  return text.length <= MAX_CONTENT_CHARS
    ? value
    : { truncated: true, chars: text.length, start: text.slice(0, MAX_CONTENT_CHARS) };
}
