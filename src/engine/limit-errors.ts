// Errors for a client whose limits are exceeded, before its request begins or during its answer.
import { GatewayError } from '../canonical/index.ts';
import { isHopeless, type Refusal, refusalText } from '../accounts/limits/index.ts';
import type { UnixMs } from '../base/units.ts';

export function limitError(refusal: Refusal, nowMs: UnixMs): GatewayError {
  if (refusal.reason === 'unread') return unreadError(refusal, nowMs);
  const isRate = refusal.reason === 'rate';
  return new GatewayError(isRate ? 'rate_limited' : 'quota', refusalText(refusal), {
    code: isRate ? 'rate_limit_exceeded' : 'budget_exceeded',
    // No replacement endpoint helps, because the limit applies to the client.
    fault: 'gateway',
    retryAfterMs: waitOf(refusal, nowMs),
    isLasting: refusal.frees === 'never',
    isHopeless: isHopeless(refusal),
    counted: refusal.limit.rule.kind === 'tokens' ? 'tokens' : 'requests',
  });
}

function unreadError(refusal: Refusal, nowMs: UnixMs): GatewayError {
  return new GatewayError('upstream_unavailable', refusalText(refusal), {
    code: 'limits_unread',
    fault: 'gateway',
    httpStatus: 503,
    retryAfterMs: waitOf(refusal, nowMs),
  });
}

/** Milliseconds until capacity is available. Undefined: unknown, or never. */
export function waitOf({ frees }: Refusal, nowMs: UnixMs): number | undefined {
  return typeof frees === 'number' ? Math.max(0, Math.ceil(frees - nowMs)) : undefined;
}
