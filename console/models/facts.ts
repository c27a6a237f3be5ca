// Aggregates facts of a model's endpoints into one value.
import type { Answer } from '../api/client.ts';

export type Endpoint = Answer<'GET /models'>['data'][number]['endpoints'][number];

/** Largest or smallest known value; null if none is known. */
export function best(
  endpoints: readonly Endpoint[],
  of: (endpoint: Endpoint) => number | null,
  which: 'largest' | 'smallest',
): number | null {
  const known = endpoints.map(of).filter((value) => value !== null);
  if (known.length === 0) return null;
  return which === 'largest' ? Math.max(...known) : Math.min(...known);
}

/** Price per million tokens, without price tiers. `null`: unknown. */
export function priceOf(price: unknown): number | null {
  if (typeof price === 'number') return price;
  const base = typeof price === 'object' && price !== null && 'base' in price ? price.base : null;
  return typeof base === 'number' ? base : null;
}

/** Endpoint with the lowest output price; the first one if no price is known. */
export function cheapest(endpoints: readonly Endpoint[]): Endpoint | undefined {
  return endpoints.toSorted(
    (a, b) => (priceOf(a.price?.output) ?? Infinity) - (priceOf(b.price?.output) ?? Infinity),
  )[0];
}
