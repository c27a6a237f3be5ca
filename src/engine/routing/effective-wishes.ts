// Merges the routing preferences of three levels: the request overrides the key, which overrides the operator's
// defaults.
import type { RoutingWishes } from '../../canonical/index.ts';

/** Takes each member from the first level that has it. */
export function effectiveWishes(
  request: RoutingWishes | undefined,
  key: RoutingWishes | null,
  defaults: RoutingWishes,
): RoutingWishes {
  if (!key && !request) return defaults;
  return over(request, over(key ?? undefined, defaults));
}

function over(upper: RoutingWishes | undefined, lower: RoutingWishes): RoutingWishes {
  if (!upper) return lower;
  const said = Object.fromEntries(Object.entries(upper).filter(([, value]) => value !== undefined));
  const merged = { ...lower, ...said };
  // A lower level's order must not override the factor requested here.
  if (upper.factor !== undefined && upper.prefer === undefined) return { ...merged, prefer: undefined };
  // A strategy does not inherit a factor: a default of `cost` would reorder a plain `priority`.
  if (upper.type !== undefined && upper.factor === undefined) return { ...merged, factor: undefined };
  return merged;
}
