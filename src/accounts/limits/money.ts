// Money as it is counted: whole nano-dollars, so that sums are exact and a token of the cheapest model is more than
// nothing. A number holds nine million dollars of them exactly.

const NANO_PER_USD = 1e9;

/** Most dollars that a budget may have. */
export const MOST_USD = 9_000_000;

/** Whole nano-dollars, rounded to the nearest. @param usd US dollars */
export function nanoUsdOf(usd: number): number {
  return Math.round(usd * NANO_PER_USD);
}

/** US dollars. */
export function usdOf(nanoUsd: number): number {
  return nanoUsd / NANO_PER_USD;
}
