// Three levels of wishes become one: the request's word counts before the key's, the key's before the operator's.
import type { RoutingWishes } from '../../canonical/index.ts';

/** Each member from the first level that has it. */
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
  // Nor may an order from below stand before the factor that is asked for here.
  if (upper.factor !== undefined && upper.prefer === undefined) return { ...merged, prefer: undefined };
  // A strategy brings its own factor or none: cost from a default would turn a plain `priority` upside down.
  if (upper.type !== undefined && upper.factor === undefined) return { ...merged, factor: undefined };
  return merged;
}
