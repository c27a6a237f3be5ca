// Measures that forget: averages, counts and percentiles of what happened lately, in fixed memory. Know nothing of what is
// measured.
import type { DurationMs, UnixMs } from '../../base/units.ts';

// A running average that forgets: old measures give way to new ones by number and by age.

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

  add(measure: number, nowMs: UnixMs): void {
    this.#measures += 1;
    const aged = 1 - Math.exp(-Math.max(0, nowMs - this.#at) / MEMORY_MS);
    const weight = Math.max(LEAST_WEIGHT, 1 / this.#measures, aged);
    const old = this.value ?? measure;
    this.value = old + (measure - old) * weight;
    this.#at = nowMs;
  }
}

// A count in which each event weighs less the longer ago it was.

/** After this time an event counts for half. */
const COUNT_HALF_LIFE_MS = 5 * 60_000;

/** A sum of events, each halved every 5 minutes. */
export class DecayingCount {
  #count = 0;
  #at = 0;

  /** More events. @param nowMs Unix milliseconds */
  add(nowMs: UnixMs, events = 1): void {
    this.#count = this.at(nowMs) + events;
    this.#at = nowMs;
  }

  /** Events that remain by now. @param nowMs Unix milliseconds */
  at(nowMs: UnixMs): number {
    // A clock that was set back must not make old events weigh more than one.
    return this.#count === 0 ? 0 : this.#count * 2 ** (-Math.max(0, nowMs - this.#at) / COUNT_HALF_LIFE_MS);
  }
}

// How many events there were lately, exactly and in fixed memory.

const SLOTS = 10;

/** Events of the last tenth of a window, up to now, and of the nine tenths before it. */
export class SlidingCount {
  readonly #counts = new Uint32Array(SLOTS);
  #slotMs = 0;
  /** Number of the newest slot since the epoch. */
  #newest = 0;

  /** One more event. @param nowMs Unix milliseconds @param windowMs length of the window */
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

  /** Empties the slots that time has left behind; all of them when the window's length was changed. */
  #move(nowMs: UnixMs, windowMs: DurationMs): void {
    const slotMs = windowMs / SLOTS;
    const slot = Math.floor(nowMs / slotMs);
    if (slotMs !== this.#slotMs || slot >= this.#newest + SLOTS) {
      this.clear();
      this.#slotMs = slotMs;
      this.#newest = slot;
    }
    // A clock that was set back goes on in the newest slot.
    while (this.#newest < slot) {
      this.#newest += 1;
      this.#counts[this.#newest % SLOTS] = 0;
    }
  }
}

// How durations and lengths are spread, in little memory: counts by size class that fade with time, so that a percentile
// follows what an endpoint does now.

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
   * Value that this share of all measures does not exceed, at most 9 % too high. Null: there are fewer than 20
   * measures.
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
