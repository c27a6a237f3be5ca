// The clock. It is injected everywhere, so that tests never have to sleep.
import { Roster } from '../lib/roster.ts';
import type { DurationMs, UnixMs } from '../units.ts';

export interface Clock {
  /**
   * Monotonic milliseconds, for durations, deadlines and windows. They equal Unix milliseconds until the machine's clock
   * is set after the start of the process.
   */
  now(): UnixMs;
  /** Unix milliseconds by the machine's clock, which may jump. For times that are shown, stored or signed. */
  wall(): UnixMs;
  /** Calls `run` once after `ms` milliseconds; the result cancels it. */
  after(ms: DurationMs, run: () => void): () => void;
  /** Calls `run` every `ms` milliseconds until the result is called. Does not keep the process alive. */
  every(ms: DurationMs, run: () => void): () => void;
}

/** Unix milliseconds at which `performance.now()` was 0. */
const ORIGIN = Date.now() - performance.now();

export const systemClock: Clock = {
  now: () => Math.floor(ORIGIN + performance.now()),
  wall: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  every(ms, run) {
    const timer = setInterval(run, ms);
    timer.unref?.();
    return () => clearInterval(timer);
  },
};

/** Difference between the two times that is ignored: they are not read at the same instant. */
const READ_MS = 5;

/** Milliseconds by which the machine's clock was set since the start. Add them to `now()` to get `wall()`. */
export function stepOf(clock: Pick<Clock, 'now' | 'wall'>): DurationMs {
  const ms = clock.wall() - clock.now();
  return Math.abs(ms) <= READ_MS ? 0 : ms;
}

/** Converts a time from `now()` to Unix milliseconds by the machine's clock. `null` stays `null`. */
export function shownTime<At extends number | null>(clock: Pick<Clock, 'now' | 'wall'>, at: At): At {
  return (at === null ? null : at + stepOf(clock)) as At;
}

/** A periodic check. */
export interface Ticking {
  tick(nowMs: UnixMs): void;
}

/** Runs many small periodic checks from one timer, so that 1,000 streams do not need 1,000 timers. */
export class Ticker {
  readonly #clock: Clock;
  readonly #periodMs: DurationMs;
  readonly #checks = new Roster<Ticking>();
  #stop: (() => void) | undefined;

  constructor(clock: Clock, periodMs: DurationMs) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /** Runs a check once per period until it is removed. @returns its place, which `remove` needs */
  add(check: Ticking): number {
    this.#stop ??= this.#clock.every(this.#periodMs, () => this.#tick());
    return this.#checks.add(check);
  }

  /** Removes a check. Does nothing if it was removed before. */
  remove(check: Ticking, place: number): void {
    this.#checks.remove(check, place);
  }

  #tick(): void {
    // The timer outlives the last check for one period, because the next request usually adds another.
    if (this.#checks.size === 0) {
      this.#stop?.();
      this.#stop = undefined;
      return;
    }
    const now = this.#clock.now();
    for (const check of this.#checks) check.tick(now);
  }
}

/** Calls `run` once, after all sockets and timers that are due in this turn of the event loop. */
export function nextTurn(run: () => void): void {
  setImmediate(run);
}
