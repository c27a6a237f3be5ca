// A clock that moves only when told to: tests of timeouts need no sleep.
import type { Clock } from '../../src/base/runtime/clock.ts';

interface Timer {
  at: number;
  readonly everyMs: number | undefined;
  readonly run: () => void;
}

/** Periods of a timer in one step of time after which it is run at the beginning and at the end alone: months have many. */
const MOST_PERIODS = 200;

function skipped({ at, everyMs = Infinity }: Timer, end: number): number {
  const periods = Math.floor((end - at) / everyMs);
  return periods > MOST_PERIODS ? periods : 0;
}

export class ManualClock implements Clock {
  #now: number;
  #steppedMs = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs;
  }

  readonly now = (): number => this.#now;
  readonly wall = (): number => this.#now + this.#steppedMs;

  /** Somebody sets the machine's clock: time goes on, and its name is another. */
  step(ms: number): void {
    this.#steppedMs += ms;
  }

  after(ms: number, run: () => void): () => void {
    return this.#add({ at: this.#now + ms, everyMs: undefined, run });
  }

  every(ms: number, run: () => void): () => void {
    return this.#add({ at: this.#now + ms, everyMs: ms, run });
  }

  /** Moves on by `ms`, running every timer that falls due on the way, in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#timers].filter((timer) => timer.at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#now = Math.max(this.#now, next.at);
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.at += next.everyMs * Math.max(1, skipped(next, end));
      next.run();
    }
    this.#now = end;
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
}
