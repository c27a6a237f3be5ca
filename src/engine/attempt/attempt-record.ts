// What the ledger keeps of one try. Only the shape: what happened is the attempt's knowledge.
import type { GatewayError, Usage } from '../../canonical/index.ts';
import type { AttemptRecord, Cost } from '../../ledger/index.ts';
import type { AttemptOptions } from './attempt-options.ts';
import { summariseError } from './error-summary.ts';
import type { Meter } from './meter.ts';

export interface AttemptFacts {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: AttemptRecord['status'];
  readonly error: GatewayError | undefined;
  readonly meter: Pick<Meter, 'firstContentAt' | 'upstreamId'>;
  readonly charge: { readonly usage: Usage | null; readonly cost: Cost | null };
}

/** The record of an attempt with these options. */
export function attemptRecord(
  options: Pick<AttemptOptions, 'id' | 'generationId' | 'ordinal' | 'endpoint' | 'lane'>,
  { startedAt, endedAt, status, error, meter, charge }: AttemptFacts,
): AttemptRecord {
  const { id, generationId, ordinal, endpoint, lane } = options;
  return {
    id,
    generationId,
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
    upstreamId: meter.upstreamId,
    error: summariseError(error),
    ...charge,
  };
}
