// How durations are spread, in little memory: counts by size class that fade with time, so that a percentile follows
// what an endpoint does now. Knows nothing of what is timed.

/** Classes per doubling: each is 9 % wider than the one before, which bounds the error of a percentile. */
const PER_DOUBLING = 8;
/** Up to 2^20 ms, about 17 minutes; whatever is longer counts as that. */
const CLASSES = 20 * PER_DOUBLING + 1;
const HALF_LIFE_MS = 10 * 60_000;
/** Weights of new measures grow by this factor before all counts are scaled down again. */
const LARGEST_WEIGHT = 256;
/** With fewer, the 95th percentile is one outlier's duration. */
const LEAST_MEASURES = 20;

/**
 * Durations in logarithmic classes. Counts halve every 10 minutes; instead of shrinking the old ones at each measure,
 * the new ones weigh more, which leaves every share the same.
 */
export class LatencyHistogram {
  readonly #weights = new Float32Array(CLASSES);
  #total = 0;
  #measures = 0;
  /** When a measure weighed one. Unix milliseconds. */
  #base = 0;

  /** @param durationMs milliseconds @param nowMs Unix milliseconds */
  add(durationMs: number, nowMs: number): void {
    let weight = 2 ** ((nowMs - this.#base) / HALF_LIFE_MS);
    if (weight > LARGEST_WEIGHT) {
      for (let at = 0; at < CLASSES; at += 1) this.#weights[at] = (this.#weights[at] ?? 0) / weight;
      this.#total /= weight;
      this.#base = nowMs;
      weight = 1;
    }
    const at = Math.min(CLASSES - 1, Math.ceil(Math.log2(Math.max(1, durationMs)) * PER_DOUBLING));
    this.#weights[at] = (this.#weights[at] ?? 0) + weight;
    this.#total += weight;
    this.#measures += 1;
  }

  /** The duration in milliseconds that 95 of 100 do not exceed, at most 9 % too long; null under 20 measures. */
  p95(): number | null {
    if (this.#measures < LEAST_MEASURES) return null;
    let longer = this.#total * 0.05;
    for (let at = CLASSES - 1; at > 0; at -= 1) {
      longer -= this.#weights[at] ?? 0;
      if (longer < 0) return 2 ** (at / PER_DOUBLING);
    }
    return 1;
  }
}
