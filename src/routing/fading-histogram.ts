// How durations and lengths are spread, in little memory: counts by size class that fade with time, so that a percentile
// follows what an endpoint does now. Knows nothing of what is measured.

/** Classes per doubling: each is 9 % wider than the one before, which bounds the error of a percentile. */
const PER_DOUBLING = 8;
/** Up to 2^20: about 17 minutes in milliseconds, a million tokens; whatever is more counts as that. */
const CLASSES = 20 * PER_DOUBLING + 1;
const HALF_LIFE_MS = 10 * 60_000;
/** Weights of new measures grow by this factor before all counts are scaled down again. */
const LARGEST_WEIGHT = 256;
/** With fewer, the 95th percentile is one outlier. */
const LEAST_MEASURES = 20;

/**
 * Measures in logarithmic classes. Counts halve every 10 minutes; instead of shrinking the old ones at each measure,
 * the new ones weigh more, which leaves every share the same.
 */
export class FadingHistogram {
  readonly #weights = new Float32Array(CLASSES);
  #total = 0;
  #measures = 0;
  /** When a measure weighed one. Unix milliseconds. */
  #base = 0;

  /** @param measure from 1 on @param nowMs Unix milliseconds */
  add(measure: number, nowMs: number): void {
    let weight = 2 ** ((nowMs - this.#base) / HALF_LIFE_MS);
    if (weight > LARGEST_WEIGHT) {
      for (let at = 0; at < CLASSES; at += 1) this.#weights[at] = (this.#weights[at] ?? 0) / weight;
      this.#total /= weight;
      this.#base = nowMs;
      weight = 1;
    }
    const at = Math.min(CLASSES - 1, Math.ceil(Math.log2(Math.max(1, measure)) * PER_DOUBLING));
    this.#weights[at] = (this.#weights[at] ?? 0) + weight;
    this.#total += weight;
    this.#measures += 1;
  }

  /**
   * What a share of all measures does not exceed, at most 9 % too much; null under 20 measures.
   * @param share 0 to 1
   */
  percentile(share: number): number | null {
    if (this.#measures < LEAST_MEASURES) return null;
    let more = this.#total * (1 - share);
    for (let at = CLASSES - 1; at > 0; at -= 1) {
      more -= this.#weights[at] ?? 0;
      if (more < 0) return 2 ** (at / PER_DOUBLING);
    }
    return 1;
  }
}
