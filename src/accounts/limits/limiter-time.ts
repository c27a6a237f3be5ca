// The two times of a limiter: a monotonic time for rolling windows, and the machine's clock for calendar periods and for
// times that are shown.
import type { ClockStep } from './window.ts';
import type { UnixMs } from '../../base/units.ts';

/** Milliseconds between two checks whether the machine's clock was set. */
const LOOK_MS = 100;
/** Difference of the two times that is ignored: they are not read at the same instant. */
const READ_MS = 5;

export class LimiterTime implements ClockStep {
  /** Milliseconds to add to the monotonic time to get Unix milliseconds, as of the last check. */
  ms = 0;
  readonly #now: () => UnixMs;
  readonly #wall: (() => UnixMs) | undefined;
  #lookedAt = -Infinity;

  /** @param wall Unix milliseconds by the machine's clock; absent: `now` */
  constructor(now: () => UnixMs, wall: (() => UnixMs) | undefined) {
    this.#now = now;
    this.#wall = wall;
  }

  /** Monotonic milliseconds. */
  now(): UnixMs {
    const now = this.#now();
    if (this.#wall && now >= this.#lookedAt + LOOK_MS) {
      this.#lookedAt = now;
      const ms = this.#wall() - now;
      this.ms = Math.abs(ms) <= READ_MS ? 0 : ms;
    }
    return now;
  }

  /** Converts a monotonic time to Unix milliseconds. Other values are returned unchanged. */
  shown<At>(at: At | number): At | number {
    return typeof at === 'number' ? at + this.ms : at;
  }
}
