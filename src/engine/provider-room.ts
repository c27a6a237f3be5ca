// Whether a provider has room for another request, as far as its vendor's limits are known here. Takes none of it.
import type { Endpoint } from '../catalog/index.ts';
import { limitText, type Limits, refusalText } from '../accounts/limits/index.ts';
import { GatewayError } from '../canonical/index.ts';

/** Why an endpoint's provider has no room; null where it has. */
export function fullReason(limits: Limits, { provider, modelId }: Endpoint): string | null {
  const scope = limits.ofProvider(provider);
  if (!scope) return null;
  const least = { model: modelId, endUser: null, tokens: 1, nanoUsd: 0 };
  const refusal = limits.limiter.check([scope], least);
  return refusal && refusalText(refusal);
}

/** When work is tried again that leaves room to others, in milliseconds. */
const AGAIN_MS = 1_000;

/** @throws GatewayError `rate_limited` where so much of a limit of an endpoint's provider is used, from 0 to 1 */
export function requireShare(limits: Limits, { provider, modelId }: Endpoint, share: number): void {
  const scope = limits.ofProvider(provider);
  if (!scope) return;
  for (const { limit, used } of limits.limiter.standings([scope], modelId, null)) {
    if (used < limit.rule.amount * share) continue;
    const percent = Math.round(share * 100);
    throw new GatewayError(
      'rate_limited',
      `${percent} % of a limit of ${provider} are used (${limitText(limit.rule)}): work of this kind waits, so that interactive requests find room.`,
      { code: 'provider_share_used', fault: 'gateway', retryAfterMs: AGAIN_MS },
    );
  }
}
