// A request that an endpoint refused as too long: what that shows, and who may hold it.
import type { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { contextOf, mayHold, type Overflow, shownContext } from '../../routing/index.ts';
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
  const shown = error.upstream ? shownContext(error.message, needed) : null;
  if (shown !== null) routing.learnContext(endpoint, shown);
  return (other) => mayHold(overflow(other), refused, needed);
}
