// A request that an endpoint refused as too long: what that shows, and who may hold it.
import type { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { contextOf, mayHold, type Overflow, shownContext, statedContext } from '../routing/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';

/**
 * Notes the context that the refusal shows.
 * @param needed tokens of the request and of the answer that it asks for, by our estimate
 * @returns whether another endpoint may hold it
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
  // Our own refusals follow from what is known already.
  if (!error.upstream) return (other) => mayHold(overflow(other), refused, needed);
  const stated = error.context?.limit ?? statedContext(error.message);
  const shown = stated ?? shownContext(needed);
  if (shown !== null) routing.learnContext(endpoint, shown);
  if (stated === null) return (other) => mayHold(overflow(other), refused, needed);
  // The server counts its own tokens better than we do.
  const least = Math.max(stated, (error.context?.prompt ?? 0) - 1);
  return (other) => {
    const { contextLength } = overflow(other);
    // Nothing says that it holds less, unless it is the same model of the same server.
    if (contextLength === null) return other.baseUrl !== endpoint.baseUrl || other.model !== endpoint.model;
    return contextLength > least;
  };
}
