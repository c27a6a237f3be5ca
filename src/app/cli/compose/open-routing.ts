// Routing state, and the part of it that is published to other processes.
import { type BreakerSettings, MemoryRoutingState } from '../../../engine/routing/index.ts';
import type { Sharing } from './open-sharing.ts';
import type { UnixMs } from '../../../base/units.ts';

/**
 * @param breaker its settings as they are configured now
 * @param isListed true for the id of a model of the catalog; all others may be made up by clients
 * @param sharing null for a process alone
 */
export function openRouting(
  breaker: () => BreakerSettings,
  isListed: (modelId: string) => boolean,
  now: () => UnixMs,
  sharing: Sharing | null,
): MemoryRoutingState {
  const routing = new MemoryRoutingState({ now, breaker, isListed, isShared: sharing !== null });
  sharing?.shareRouting(routing);
  return routing;
}
