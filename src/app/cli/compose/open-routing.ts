// Opens the routing state, and publishes changes to other processes.
import { type BreakerSettings, MemoryRoutingState } from '../../../engine/routing/index.ts';
import type { Sharing } from './open-sharing.ts';
import type { UnixMs } from '../../../base/units.ts';

/**
 * @param breaker current settings
 * @param isListed true for the id of a model in the catalog; clients can invent others
 * @param sharing null: single process
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
