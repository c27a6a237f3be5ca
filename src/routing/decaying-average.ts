// A running average that forgets: old measures give way to new ones by number and by age. Knows nothing of what is
// measured.

/** Age at which a silence alone takes all but a third (1/e) of the old average's weight. */
const MEMORY_MS = 30_000;
/** Least weight of a new measure: ten measures in a burst replace most of what was there. */
const LEAST_WEIGHT = 0.1;

/**
 * An average in which the n-th measure, Δt after the one before, weighs max(0.1, 1/n, 1 − exp(−Δt / 30 s)): the plain
 * mean of the first ten when they come at once, and nearly the last measure alone after minutes of silence.
 */
export class DecayingAverage {
  /** Null before the first measure. Changed by `add` alone. */
  value: number | null = null;
  #measures = 0;
  #at = 0;

  /** @param nowMs Unix milliseconds */
  add(measure: number, nowMs: number): void {
    this.#measures += 1;
    const aged = 1 - Math.exp(-Math.max(0, nowMs - this.#at) / MEMORY_MS);
    const weight = Math.max(LEAST_WEIGHT, 1 / this.#measures, aged);
    const old = this.value ?? measure;
    this.value = old + (measure - old) * weight;
    this.#at = nowMs;
  }
}
