// What routing remembers, and what of it other processes are told.
import { type BreakerSettings, MemoryRoutingState } from '../../routing/index.ts';
import type { Sharing } from './open-sharing.ts';

/** @param breaker its settings as they are configured now @param now Unix milliseconds @param sharing null for a process alone */
export function openRouting(
  breaker: () => BreakerSettings,
  now: () => number,
  sharing: Sharing | null,
): MemoryRoutingState {
  const routing = new MemoryRoutingState({ now, breaker, isShared: sharing !== null });
  sharing?.shareRouting(routing);
  return routing;
}
