// Money in whole nano-dollars, so that sums are exact and a token of the cheapest model does not round to 0. A number holds
// up to nine million dollars exactly.

const NANO_PER_USD = 1e9;

/** Largest budget in US dollars. */
export const MOST_USD = 9_000_000;

/** Converts US dollars to nano-dollars, rounded. */
export function nanoUsdOf(usd: number): number {
  return Math.round(usd * NANO_PER_USD);
}

/** Converts nano-dollars to US dollars. */
export function usdOf(nanoUsd: number): number {
  return nanoUsd / NANO_PER_USD;
}
