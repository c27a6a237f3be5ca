// Writes what a request was and cost: once, when its outcome is known and before its client hears of the end; and tells
// whoever watches.
import { refusalStatus } from '../answer/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { JsonValue } from '../../base/json/index.ts';
import {
  type GatewayError,
  inputTokens,
  outputTokens,
  type Report,
  type RequestOutline,
  type RouteTrace,
} from '../../canonical/index.ts';
import { countedRequests, type GenerationRecord } from '../../accounts/ledger/index.ts';
import { withoutCredentials } from '../../protocols/index.ts';
import type { Arrival } from '../call.ts';
import { type Attempt, summariseError } from '../attempt/index.ts';
import type { AttemptLog } from '../attempt-log.ts';
import { nanoUsdOf, type Spent } from '../../accounts/limits/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/**
 * Appends the records: they survive the death of the process when it returns. Never throws.
 * @param opened true when the client has the head of an answer already
 */
export function settle(
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
    // An answer is worth more to its reader than its record to us; the log keeps what the ledger refused.
    const { content: _, ...facts } = record;
    log.error('a generation could not be recorded', { record: facts, error });
  }
  arrival.call.job?.recorded(record);
  arrival.call.recorder?.settled(record, hasFailed(attemptLog, failure));
  arrival.quota?.settle(spentOf(record));
  observer.settled({
    generation: record,
    attempts,
    models: attemptLog.attempts.map(({ endpoint }) => endpoint.modelId),
    toolRuns: attemptLog.toolRuns.map((run) => inTime(run)),
    principal: arrival.call.principal,
    trace: arrival.trace,
    unrecorded,
  });
}

// Ledger record of one request. Only the shape: what happened is known by whoever did it.

/** Longest model name that is kept of a request that named nonsense, in characters. */
const MAX_MODEL_CHARS = 256;
/** Largest prompt or answer kept by content logging, in characters of JSON. */
const MAX_CONTENT_CHARS = 1_000_000;

/** Outcome of a request, as far as it came. */
export interface Outcome {
  readonly arrival: Arrival;
  /** As its client meant it; undefined where it could not be decoded. */
  readonly request: RequestOutline | undefined;
  /** The decision; null where there was none. */
  readonly route: RouteTrace | null;
  readonly attemptLog: AttemptLog;
  /** The attempts whose answers the client gets, in their order; none where nobody answered. */
  readonly turns: readonly Attempt[];
  readonly report: Report;
  /** How many turns of models they are. */
  readonly turnCount: number;
  /** Undefined when it was answered. */
  readonly failure: GatewayError | undefined;
  /** True when its client had left before the end. */
  readonly cancelled: boolean;
  /** Answer in the client's own protocol, when content is logged; else null. */
  readonly content: JsonValue;
}

/** @param status HTTP status sent to the client */
function generationRecord(
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

// Times of a record as they are stored: what is measured while a request runs only goes forward, and a record says when
// that was by the machine's clock. Durations within a record stay true, whatever happens to that clock meanwhile.

interface Measured {
  readonly startedAt?: UnixMs;
  readonly firstContentAt?: UnixMs | null;
  readonly endedAt: UnixMs;
}

/** @returns what gives a record, or a part of one, the times of the machine's clock: that of the request's arrival */
function recordedTimes({ stepMs }: Pick<Arrival, 'stepMs'>): <Part extends Measured>(part: Part) => Part {
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

// Definition of a failure where only failures are kept.

/** True where a request failed, or a try of it did. A client that leaves is no failure. */
export function hasFailed({ attempts }: Pick<AttemptLog, 'attempts'>, failure?: GatewayError): boolean {
  return counts(failure) || attempts.some((attempt) => counts(attempt.failure));
}

function counts(failure: GatewayError | undefined): boolean {
  return failure !== undefined && failure.kind !== 'cancelled';
}

// Use of limits by a request: the same as its record says, so that counters and the ledger agree.

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
