// Facts of a model's endpoints, in one value.
import type { Answer } from '../api/client.ts';

export type Endpoint = Answer<'GET /models'>['data'][number]['endpoints'][number];

/** The largest or the smallest of what is known; null: nothing is. */
export function best(
  endpoints: readonly Endpoint[],
  of: (endpoint: Endpoint) => number | null,
  which: 'largest' | 'smallest',
): number | null {
  const known = endpoints.map(of).filter((value) => value !== null);
  if (known.length === 0) return null;
  return which === 'largest' ? Math.max(...known) : Math.min(...known);
}

/** A price per million tokens, without the steps that it may have. */
export function priceOf(price: unknown): number | null {
  if (typeof price === 'number') return price;
  const base = typeof price === 'object' && price !== null && 'base' in price ? price.base : null;
  return typeof base === 'number' ? base : null;
}

/** The one whose answers cost least; the first where no price is known. */
export function cheapest(endpoints: readonly Endpoint[]): Endpoint | undefined {
  return endpoints.toSorted(
    (a, b) => (priceOf(a.price?.output) ?? Infinity) - (priceOf(b.price?.output) ?? Infinity),
  )[0];
}
