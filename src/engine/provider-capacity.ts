// Checks whether a provider has capacity for another request within its vendor's known limits. Reserves nothing.
import type { Endpoint } from '../catalog/index.ts';
import { limitText, type Limits, refusalText } from '../accounts/limits/index.ts';
import { GatewayError } from '../canonical/index.ts';

/** Reason why an endpoint's provider has no capacity. Null: it has. */
export function refusalOfProvider(limits: Limits, { provider, modelId }: Endpoint): string | null {
  const scope = limits.ofProvider(provider);
  if (!scope) return null;
  const least = { model: modelId, endUser: null, tokens: 1, nanoUsd: 0 };
  const refusal = limits.limiter.check([scope], least);
  return refusal && refusalText(refusal);
}

/** Retry delay of work that yields capacity to interactive requests, in milliseconds. */
const RETRY_MS = 1_000;

/** @throws GatewayError `rate_limited` when `share` of a provider's limit is used, from 0 to 1 */
export function requireShare(limits: Limits, { provider, modelId }: Endpoint, share: number): void {
  const scope = limits.ofProvider(provider);
  if (!scope) return;
  for (const { limit, used } of limits.limiter.limitUsages([scope], modelId, null)) {
    if (used < limit.rule.amount * share) continue;
    const percent = Math.round(share * 100);
    throw new GatewayError(
      'rate_limited',
      `${percent} % of a limit of ${provider} is used (${limitText(limit.rule)}). Batches and background responses wait, to leave capacity for interactive requests.`,
      { code: 'provider_share_used', fault: 'gateway', retryAfterMs: RETRY_MS },
    );
  }
}
