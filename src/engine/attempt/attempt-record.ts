// Record of one attempt in the ledger. Only the shape: the attempt knows what happened.
import type { GatewayError, Usage } from '../../canonical/index.ts';
import { type AttemptRecord, type Cost, costOf } from '../../accounts/ledger/index.ts';
import type { AttemptInput, AttemptNumber } from './attempt-input.ts';
import { summariseError } from './error-summary.ts';
import type { Meter } from './meter.ts';
import type { PreparedAttempt } from './prepared.ts';

export interface AttemptCourse {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** When the request was handed to a connection, and when the head of the answer came. `null`: never. */
  readonly sentAt: number | null;
  readonly answeredAt: number | null;
  readonly status: AttemptRecord['status'];
  readonly error: GatewayError | undefined;
  readonly meter: Pick<Meter, 'firstContentAt' | 'upstreamId'>;
  readonly charge: Charge;
}

/** Counts and cost of an attempt; null where it produced nothing. */
export interface Charge {
  readonly usage: Usage | null;
  readonly cost: Cost | null;
}

/** Charge of an attempt, as far as it went. @param error how it failed; undefined where it did not */
export function chargeOf(prepared: PreparedAttempt, meter: Meter, error: GatewayError | undefined): Charge {
  // A failure before the first content delivered nothing, whatever was counted by then.
  const nothing = error && error.kind !== 'cancelled' && !meter.produced;
  // An answer in the background is counted when it is done.
  const later = prepared.request.background && !meter.usage;
  const usage = nothing || later ? null : meter.settledUsage(prepared);
  const price = prepared.isListPriced ? prepared.endpoint.price : null;
  return { usage, cost: usage && costOf(usage, price) };
}

/** The record of an attempt. */
export function attemptRecord(
  { requester, prepared }: AttemptInput,
  { ordinal }: Pick<AttemptNumber, 'ordinal'>,
  { startedAt, endedAt, sentAt, answeredAt, status, error, meter, charge }: AttemptCourse,
): AttemptRecord {
  const { endpoint, lane } = prepared;
  const { recordId: id } = requester.arrival;
  return {
    // Time-ordered, as the generation's own id: rows of one hour lie together in the index.
    id: `${id}-${ordinal}`,
    generationId: id,
    ordinal,
    provider: endpoint.provider,
    endpoint: endpoint.slug,
    model: endpoint.model,
    protocol: endpoint.protocol,
    lane,
    startedAt,
    firstContentAt: meter.firstContentAt,
    endedAt,
    outcome: !error ? 'completed' : error.kind === 'cancelled' ? 'cancelled' : 'failed',
    status,
    upstreamId: meter.upstreamId ?? error?.upstream?.requestId ?? null,
    error: error ? summariseError(error) : null,
    usage: charge.usage,
    cost: charge.cost,
    queuedMs: sentAt === null ? null : sentAt - startedAt,
    headersMs: answeredAt === null ? null : answeredAt - startedAt,
  };
}
