// Ledger record of one request, made from its outcome.
import type { JsonValue } from '../../base/json/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';
import type { GatewayError, Report, RequestOutline, RouteTrace } from '../../canonical/index.ts';
import type { GenerationRecord } from '../../accounts/ledger/index.ts';
import { withoutCredentials } from '../../protocols/index.ts';
import { type Attempt, summariseError } from '../attempt/index.ts';
import type { AttemptLog } from '../attempt-log.ts';
import type { Arrival } from '../call.ts';

/** Maximum characters of an unresolved model name. */
const MAX_MODEL_CHARS = 256;
/** Maximum characters of JSON in a logged prompt or answer. */
const MAX_CONTENT_CHARS = 1_000_000;

/** Outcome of a request so far. */
export interface Outcome {
  readonly arrival: Arrival;
  /** The request as the client meant it. Undefined: it could not be decoded. */
  readonly request: RequestOutline | undefined;
  /** The routing decision. Null: none was made. */
  readonly route: RouteTrace | null;
  readonly attemptLog: AttemptLog;
  /** Attempts whose answers the client gets, in order. Empty: none answered. */
  readonly turns: readonly Attempt[];
  readonly report: Report;
  /** Number of model turns. */
  readonly turnCount: number;
  /** Undefined: it was answered. */
  readonly failure: GatewayError | undefined;
  /** True: the client disconnected before the end. */
  readonly cancelled: boolean;
  /** The answer in the client's protocol, if content is logged. Null: not logged. */
  readonly content: JsonValue;
}

/** @param status HTTP status sent to the client */
export function generationRecord(
  outcome: Outcome,
  endUser: GenerationRecord['endUser'],
  status: number,
  endedAtMs: UnixMs,
): GenerationRecord {
  const { arrival, request, attemptLog, turns, failure } = outcome;
  const { call } = arrival;
  const served = turns.at(-1);
  const requestedModel =
    typeof request?.model === 'string' ? request.model : (call.route?.model ?? modelOf(call.json));
  const finish = served?.meter.finish ?? null;
  return {
    id: arrival.recordId,
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
    attempts: attemptLog.attempts.length,
    turns: Math.max(1, outcome.turnCount),
    replayOf: call.replayOf ?? null,
    usage: attemptLog.usage(turns.slice(0, -1), served && attemptLog.usageOf(served)) ?? null,
    cost: attemptLog.cost(),
    report: outcome.report.entries,
    route: outcome.route,
    error: failure ? summariseError(failure) : null,
    metadata: request?.metadata ?? null,
    content: call.recorder?.keeps(hasFailed(attemptLog, failure))
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

/**
 * Times of a record: durations are measured on the monotonic clock, and records contain wall clock times. Durations
 * within a record stay correct even if the wall clock changes.
 */
interface Measured {
  readonly startedAt?: UnixMs;
  readonly firstContentAt?: UnixMs | null;
  readonly endedAt: UnixMs;
}

/** @returns a function that converts the times of a record to the wall clock, based on the request's arrival */
export function recordedTimes({
  stepMs,
}: Pick<Arrival, 'stepMs'>): <Part extends Measured>(part: Part) => Part {
  return (part) => (stepMs === 0 ? part : moved(part, stepMs));
}

function moved<Part extends Measured>(part: Part, byMs: DurationMs): Part {
  const { startedAt, firstContentAt, endedAt } = part;
  return {
    ...part,
    ...(startedAt !== undefined && { startedAt: startedAt + byMs }),
    ...(typeof firstContentAt === 'number' && { firstContentAt: firstContentAt + byMs }),
    endedAt: endedAt + byMs,
  };
}

/** True when the request or one of its attempts failed. A client that disconnects is not a failure. */
export function hasFailed({ attempts }: Pick<AttemptLog, 'attempts'>, failure?: GatewayError): boolean {
  return counts(failure) || attempts.some((attempt) => counts(attempt.failure));
}

function counts(failure: GatewayError | undefined): boolean {
  return failure !== undefined && failure.kind !== 'cancelled';
}
