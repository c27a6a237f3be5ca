// Time, injected everywhere so that tests need no sleeps.
import { Roster } from '../lib/roster.ts';

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls `run` once after `ms` milliseconds; the result cancels it. */
  after(ms: number, run: () => void): () => void;
  /** Calls `run` every `ms` milliseconds until the result is called. Does not keep the process alive. */
  every(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
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

/** What is done now and then. */
export interface Ticking {
  tick(nowMs: number): void;
}

/** Runs many small periodic checks from one timer: a thousand streams need no thousand timers. */
export class Ticker {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #checks = new Roster<Ticking>();
  #stop: (() => void) | undefined;

  constructor(clock: Clock, periodMs: number) {
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
