// Time, injected everywhere so that tests need no sleeps.
import { Roster } from '../lib/roster.ts';
import type { DurationMs, UnixMs } from '../units.ts';

export interface Clock {
  /**
   * Milliseconds that only go forward, whatever happens to the machine's clock: for durations, deadlines and windows. They
   * are Unix milliseconds as long as nobody has set that clock since the start of the process.
   */
  now(): UnixMs;
  /** Unix milliseconds by the machine's clock, which may jump: for what is shown, stored or signed. */
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

/** By how much the two times of a clock may differ that nobody has set: they are read one after the other. */
const READ_MS = 5;

/** Milliseconds by which the machine's clock was set since the start: from `now()` to `wall()`. */
export function stepOf(clock: Pick<Clock, 'now' | 'wall'>): DurationMs {
  const ms = clock.wall() - clock.now();
  return Math.abs(ms) <= READ_MS ? 0 : ms;
}

/** Unix milliseconds of a moment that was measured by `now()`, as it is shown. `null` stays `null`. */
export function shownTime<At extends number | null>(clock: Pick<Clock, 'now' | 'wall'>, at: At): At {
  return (at === null ? null : at + stepOf(clock)) as At;
}

/** Work that is repeated. */
export interface Ticking {
  tick(nowMs: UnixMs): void;
}

/** Runs many small periodic checks from one timer: a thousand streams need no thousand timers. */
export class Ticker {
  readonly #clock: Clock;
  readonly #periodMs: DurationMs;
  readonly #checks = new Roster<Ticking>();
  #stop: (() => void) | undefined;

  constructor(clock: Clock, periodMs: DurationMs) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /** Ticks once per period from now on, until it is removed. @returns its place, which `remove` asks for */
  add(check: Ticking): number {
    this.#stop ??= this.#clock.every(this.#periodMs, () => this.#tick());
    return this.#checks.add(check);
  }

  /** Does nothing where it was removed before. */
  remove(check: Ticking, place: number): void {
    this.#checks.remove(check, place);
  }

  #tick(): void {
    // Not stopped with the last check: the next request brings another.
    if (this.#checks.size === 0) {
      this.#stop?.();
      this.#stop = undefined;
      return;
    }
    const now = this.#clock.now();
    for (const check of this.#checks) check.tick(now);
  }
}

/** Calls `run` once, after the sockets and timers that are due had their turn. */
export function nextTurn(run: () => void): void {
  setImmediate(run);
}
