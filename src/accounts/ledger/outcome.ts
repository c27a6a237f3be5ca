// Ends of requests: the four outcomes that sums are kept by, and the seven states that operators see.
import type { AttemptRecord, ErrorSummary, GenerationRecord } from './record.ts';

/**
 * `ok`: a whole answer. `failed`: a provider or the gateway is at fault. `refused`: a limit, a permission or the request itself
 * stood against it. `cancelled`: the client closed the connection.
 */
export const OUTCOMES = ['ok', 'failed', 'refused', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Kinds that are the request's own fault, whoever says so. */
const OF_REQUEST: ReadonlySet<ErrorSummary['kind']> = new Set([
  'invalid_request',
  'unsupported',
  'conflict',
  'too_large',
  'context_overflow',
  'content_filter',
]);
/** Kinds that refuse where the gateway says so, and fail where a provider does. */
const OF_GATEWAY: ReadonlySet<ErrorSummary['kind']> = new Set([
  'authentication',
  'permission',
  'not_found',
  'rate_limited',
  'quota',
]);

/** @param attempts those that were made for it: a refusal after one is the provider's */
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

/** The outcome of an attempt, in the same words. `refused`: the request itself was at fault, not the provider. */
export function attemptOutcome({ outcome, error }: Pick<AttemptRecord, 'outcome' | 'error'>): Outcome {
  if (outcome === 'completed') return 'ok';
  return outcome === 'failed' && error !== null && OF_REQUEST.has(error.kind) ? 'refused' : outcome;
}

/**
 * States of a request that is over, as lists show them. `recovered`: a whole answer after a failed attempt. `broken_stream`: it failed
 * after its first content. `limit_reached`: a limit or budget of the gateway refused it. `rejected`: the request or its
 * permissions stood against it. Stored by position: states keep their order.
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

/** @param attempts those that were made for it */
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

/** The provider and endpoint that a request belongs to: those that answered, or that were tried last. Null: nobody was asked. */
export function placeOf(
  g: Pick<GenerationRecord, 'provider' | 'endpoint'>,
  attempts: readonly Pick<AttemptRecord, 'provider' | 'endpoint'>[],
): { readonly provider: string | null; readonly endpoint: string | null } {
  const last = g.provider === null ? attempts.at(-1) : undefined;
  return { provider: g.provider ?? last?.provider ?? null, endpoint: g.endpoint ?? last?.endpoint ?? null };
}
