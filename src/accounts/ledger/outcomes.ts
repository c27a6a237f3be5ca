// Outcomes of requests: the four by which usage is summed, and the seven states that the console shows.
import type { AttemptRecord, ErrorSummary, GenerationRecord } from './record.ts';

/**
 * `ok`: a complete answer. `failed`: a provider or the gateway is at fault. `refused`: because of a limit, a permission or
 * the request itself. `cancelled`: the client closed the connection.
 */
export const OUTCOMES = ['ok', 'failed', 'refused', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Error kinds caused by the request itself. */
const OF_REQUEST: ReadonlySet<ErrorSummary['kind']> = new Set([
  'invalid_request',
  'unsupported',
  'conflict',
  'too_large',
  'context_overflow',
  'content_filter',
]);
/** Error kinds that are a refusal if they come from the gateway, and a failure if they come from a provider. */
const OF_GATEWAY: ReadonlySet<ErrorSummary['kind']> = new Set([
  'authentication',
  'permission',
  'not_found',
  'rate_limited',
  'quota',
]);

/** @param attempts attempts of the request; after one, an error is the provider's */
export function outcomeOf(
  { error, cancelled }: Pick<GenerationRecord, 'error' | 'cancelled'>,
  attempts: readonly Pick<AttemptRecord, 'outcome'>[],
): Outcome {
  if (cancelled || error?.kind === 'cancelled') return 'cancelled';
  if (error === null) return 'ok';
  if (OF_REQUEST.has(error.kind)) return 'refused';
  const isOwn = error.upstreamStatus === null && attempts.every(({ outcome }) => outcome === 'completed');
  return isOwn && OF_GATEWAY.has(error.kind) ? 'refused' : 'failed';
}

/** Outcome of an attempt. `refused`: the request was at fault, not the provider. */
export function attemptOutcome({ outcome, error }: Pick<AttemptRecord, 'outcome' | 'error'>): Outcome {
  if (outcome === 'completed') return 'ok';
  return outcome === 'failed' && error !== null && OF_REQUEST.has(error.kind) ? 'refused' : outcome;
}

/**
 * States of finished requests in lists. `recovered`: a complete answer after a failed attempt. `broken_stream`: failed after
 * the first content. `limit_reached`: refused by a limit or budget of the gateway. `rejected`: refused because of the
 * request or its permissions. Stored by index, so that their order must not change.
 */
export const REQUEST_STATES = [
  'ok',
  'recovered',
  'broken_stream',
  'failed',
  'limit_reached',
  'rejected',
  'cancelled',
] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** @param attempts attempts of the request */
export function requestState(
  g: Pick<GenerationRecord, 'error' | 'cancelled' | 'firstContentAt' | 'status'>,
  attempts: readonly Pick<AttemptRecord, 'outcome'>[],
): RequestState {
  switch (outcomeOf(g, attempts)) {
    case 'cancelled':
      return 'cancelled';
    case 'ok':
      return attempts.some(({ outcome }) => outcome === 'failed') ? 'recovered' : 'ok';
    case 'failed':
      return g.firstContentAt !== null || g.status < 400 ? 'broken_stream' : 'failed';
    case 'refused':
      return g.error?.kind === 'rate_limited' || g.error?.kind === 'quota' ? 'limit_reached' : 'rejected';
  }
}
