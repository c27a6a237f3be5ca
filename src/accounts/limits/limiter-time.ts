// The two times of a limiter: one that only goes forward, by which windows roll, and that of the machine's clock, for
// calendar periods and for what is shown. Knows no limit.
import type { ClockStep } from './window.ts';
import type { UnixMs } from '../../base/units.ts';

/** Milliseconds between two looks whether somebody has set the machine's clock. */
const LOOK_MS = 100;
/** Times that are read one after the other differ by less. */
const READ_MS = 5;

export class LimiterTime implements ClockStep {
  /** Milliseconds from the time that only goes forward to Unix milliseconds, as far as was looked. */
  ms = 0;
  readonly #now: () => UnixMs;
  readonly #wall: (() => UnixMs) | undefined;
  #lookedAt = -Infinity;

  /** @param wall Unix milliseconds by the machine's clock; absent: `now` */
  constructor(now: () => UnixMs, wall: (() => UnixMs) | undefined) {
    this.#now = now;
    this.#wall = wall;
  }

  /** Milliseconds that only go forward. */
  now(): UnixMs {
    const now = this.#now();
    if (this.#wall && now >= this.#lookedAt + LOOK_MS) {
      this.#lookedAt = now;
      const ms = this.#wall() - now;
      this.ms = Math.abs(ms) <= READ_MS ? 0 : ms;
    }
    return now;
  }

  /** Unix milliseconds of a time that only goes forward; what is no time stays as it is. */
  shown<At>(at: At | number): At | number {
    return typeof at === 'number' ? at + this.ms : at;
  }
}
