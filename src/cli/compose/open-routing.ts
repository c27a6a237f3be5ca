// What routing remembers, and what of it other processes are told.
import type { Config } from '../../config/index.ts';
import { MemoryRoutingState } from '../../routing/index.ts';
import type { Sharing } from './open-sharing.ts';

/** @param config the current one @param now Unix milliseconds @param sharing null for a process alone */
export function openRouting(
  config: () => Config,
  now: () => number,
  sharing: Sharing | null,
): MemoryRoutingState {
  const breaker = (): Config['routing']['breaker'] => config().routing.breaker;
  const routing = new MemoryRoutingState({ now, breaker, isShared: sharing !== null });
  sharing?.shareRouting(routing);
  return routing;
}
