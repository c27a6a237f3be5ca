// Decaying statistics in fixed memory: averages, counts and percentiles of recent events.
import type { DurationMs, UnixMs } from '../../base/units.ts';

// Decaying average: new measures replace old ones by number and by age.

/** Time of silence after which the old average keeps a third (1/e) of its weight. */
const MEMORY_MS = 30_000;
/** Least weight of a new measure: ten in a burst replace most of the old average. */
const LEAST_WEIGHT = 0.1;

/**
 * The n-th measure, Δt after the previous one, has weight max(0.1, 1/n, 1 − exp(−Δt / 30 s)). The first ten in a burst
 * give the plain mean; after minutes of silence the last measure dominates.
 */
export class DecayingAverage {
  /** Null before the first measure. Only changed by `add`. */
  value: number | null = null;
  #measures = 0;
  #at = 0;

  add(measure: number, nowMs: UnixMs): void {
    this.#measures += 1;
    const aged = 1 - Math.exp(-Math.max(0, nowMs - this.#at) / MEMORY_MS);
    const weight = Math.max(LEAST_WEIGHT, 1 / this.#measures, aged);
    const old = this.value ?? measure;
    this.value = old + (measure - old) * weight;
    this.#at = nowMs;
  }
}

// Decaying count: an event weighs less the older it is.

/** Half-life of an event. */
const COUNT_HALF_LIFE_MS = 5 * 60_000;

/** A sum of events, each halved every 5 minutes. */
export class DecayingCount {
  #count = 0;
  #at = 0;

  /** Adds events. @param nowMs Unix milliseconds */
  add(nowMs: UnixMs, events = 1): void {
    this.#count = this.at(nowMs) + events;
    this.#at = nowMs;
  }

  /** Current count. @param nowMs Unix milliseconds */
  at(nowMs: UnixMs): number {
    // If the clock was set back, old events must not weigh more than one.
    return this.#count === 0 ? 0 : this.#count * 2 ** (-Math.max(0, nowMs - this.#at) / COUNT_HALF_LIFE_MS);
  }
}

// Sliding count: exact number of recent events in fixed memory.

const SLOTS = 10;

/** Events of the current tenth of a window and of the nine tenths before it. */
export class SlidingCount {
  readonly #counts = new Uint32Array(SLOTS);
  #slotMs = 0;
  /** Number of the newest slot since the Unix epoch. */
  #newest = 0;

  /** Adds an event. @param nowMs Unix milliseconds @param windowMs length of the window */
  add(nowMs: UnixMs, windowMs: DurationMs): void {
    this.#move(nowMs, windowMs);
    const at = this.#newest % SLOTS;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** Events in the window that ends now. @param nowMs Unix milliseconds @param windowMs length of the window */
  total(nowMs: UnixMs, windowMs: DurationMs): number {
    this.#move(nowMs, windowMs);
    let total = 0;
    for (const count of this.#counts) total += count;
    return total;
  }

  clear(): void {
    this.#counts.fill(0);
  }

  /** Clears expired slots; all of them when the window length changed. */
  #move(nowMs: UnixMs, windowMs: DurationMs): void {
    const slotMs = windowMs / SLOTS;
    const slot = Math.floor(nowMs / slotMs);
    if (slotMs !== this.#slotMs || slot >= this.#newest + SLOTS) {
      this.clear();
      this.#slotMs = slotMs;
      this.#newest = slot;
    }
    // If the clock was set back, the newest slot is kept.
    while (this.#newest < slot) {
      this.#newest += 1;
      this.#counts[this.#newest % SLOTS] = 0;
    }
  }
}

// Fading histogram: distribution of durations and lengths in little memory. Counts by size class fade, so that
// percentiles follow recent behaviour.

/** Classes per doubling: each is 9 % wider than the previous one, which bounds the error of a percentile. */
const PER_DOUBLING = 8;
/** Up to 2^20: about 17 minutes in milliseconds, or a million tokens. Larger values count as the maximum. */
const CLASSES = 20 * PER_DOUBLING + 1;
const HALF_LIFE_MS = 10 * 60_000;
/** Maximum weight of new measures before all counts are scaled down. */
const LARGEST_WEIGHT = 256;
/** Minimum measures; with fewer, the 95th percentile is a single outlier. */
const LEAST_MEASURES = 20;

/**
 * Measures in logarithmic classes. Counts halve every 10 minutes. Instead of shrinking old counts, new ones get a
 * larger weight, which leaves all shares the same.
 */
export class FadingHistogram {
  readonly #weights = new Float32Array(CLASSES);
  #total = 0;
  #measures = 0;
  /** Time at which a measure weighs one. Unix milliseconds. */
  #base = 0;

  /** @param measure at least 1 @param nowMs Unix milliseconds */
  add(measure: number, nowMs: UnixMs): void {
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
   * Value that this share of measures does not exceed, at most 9 % too high. Null: fewer than 20 measures.
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
