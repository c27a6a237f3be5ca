// Whether a provider has room for another request, as far as its vendor's limits are known here. Takes none of it.
import type { Endpoint } from '../catalog/index.ts';
import { type Limits, refusalText } from '../limits/index.ts';

/** Why an endpoint's provider has no room; null where it has. */
export function fullReason(limits: Limits, { provider, modelId }: Endpoint): string | null {
  const scope = limits.ofProvider(provider);
  if (!scope) return null;
  const least = { model: modelId, endUser: null, tokens: 1, nanoUsd: 0 };
  const refusal = limits.limiter.check([scope], least);
  return refusal && refusalText(refusal);
}
