// Context overflow: what a refusal reveals about the context length, and which endpoints may have a larger one.
import type { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { contextOf, mayHold, type Overflow, shownContext, statedContext } from '../routing/index.ts';

/**
 * Learns the context length from a refusal.
 * @param needed estimated tokens of the request and of the answer that it allows
 * @returns a test for endpoints whose context may suffice
 */
export function mayHoldMore(
  endpoint: Endpoint,
  error: GatewayError,
  needed: number,
  { routing, clock }: Pick<GatewayDependencies, 'routing' | 'clock'>,
): (other: Endpoint) => boolean {
  const overflow = (of: Endpoint): Overflow => ({
    modelId: of.modelId,
    contextLength: contextOf(of, routing.health(of), clock.now()),
  });
  const refused = overflow(endpoint);
  // Our own refusals add no information.
  if (!error.upstream) return (other) => mayHold(overflow(other), refused, needed);
  const stated = error.context?.limit ?? statedContext(error.message);
  const shown = stated ?? shownContext(needed);
  if (shown !== null) routing.learnContext(endpoint, shown);
  if (stated === null) return (other) => mayHold(overflow(other), refused, needed);
  // The server's count of tokens is more accurate than ours.
  const least = Math.max(stated, (error.context?.prompt ?? 0) - 1);
  return (other) => {
    const { contextLength } = overflow(other);
    // Its context may be larger, unless it is the same model on the same server.
    if (contextLength === null) return other.baseUrl !== endpoint.baseUrl || other.model !== endpoint.model;
    return contextLength > least;
  };
}
