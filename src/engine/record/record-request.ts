// Completes a request once its outcome is known and before the client receives the end: writes its records, settles its
// quota and notifies observers.
import { refusalStatus } from '../answer/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import {
  inputTokens,
  outputTokens,
  type GatewayError,
  type Report,
  type RequestOutline,
  type RouteTrace,
} from '../../canonical/index.ts';
import { countedRequests, type GenerationRecord } from '../../accounts/ledger/index.ts';
import { nanoUsdOf, type Spent } from '../../accounts/limits/index.ts';
import type { JsonValue } from '../../base/json/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';
import { withoutCredentials } from '../../protocols/index.ts';
import { type Attempt, summariseError } from '../attempt/index.ts';
import type { AttemptLog } from '../attempt-log.ts';
import type { Arrival } from '../call.ts';

/** Appends the records durably. Never throws. @param opened true: the client already has the head of an answer */
export function recordRequest(
  outcome: Outcome,
  opened: boolean,
  {
    ledger,
    clock,
    log,
    endUsers,
    observer,
  }: Pick<GatewayDependencies, 'ledger' | 'clock' | 'log' | 'endUsers' | 'observer'>,
): void {
  const { failure, request, arrival, attemptLog } = outcome;
  const status = outcome.cancelled ? 499 : failure && !opened ? refusalStatus(outcome, failure) : 200;
  const endUser = endUsers.hashOf(arrival.call.principal.projectId, request?.endUser);
  const inTime = recordedTimes(arrival);
  const record = inTime(generationRecord(outcome, endUser, status, clock.now()));
  const attempts = attemptLog.attempts.map((attempt) => inTime(attempt.record()));
  let unrecorded: unknown;
  try {
    ledger.append(record, attempts);
  } catch (error) {
    unrecorded = error;
    // The answer is still delivered; the log keeps what the ledger refused.
    const { content: _, ...facts } = record;
    log.error('a generation could not be recorded', { record: facts, error });
  }
  arrival.call.job?.recorded(record);
  arrival.call.recorder?.settled(record, hasFailed(attemptLog, failure));
  arrival.quota?.settle(spentOf(record));
  observer.finished({
    generation: record,
    attempts,
    models: attemptLog.attempts.map(({ endpoint }) => endpoint.modelId),
    toolRuns: attemptLog.toolRuns.map((run) => inTime(run)),
    principal: arrival.call.principal,
    trace: arrival.trace,
    unrecorded,
  });
}

/** Usage that counts against limits, from the record, so that limits and ledger agree. */
function spentOf({
  usage,
  cost,
  error,
  turns,
}: Pick<GenerationRecord, 'usage' | 'cost' | 'error' | 'turns'>): Spent {
  return {
    requests: countedRequests({ turns, failed: error !== null, isCharged: usage !== null || cost !== null }),
    tokens: usage ? inputTokens(usage) + outputTokens(usage) : 0,
    nanoUsd: cost ? cost.usd && nanoUsdOf(cost.usd) : 0,
  };
}

// Ledger record of one request, made from its outcome.

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
