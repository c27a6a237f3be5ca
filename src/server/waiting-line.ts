// A line of those who wait, in which one after another has its turn. Who leaves before is passed over. Knows not why they wait.
import type { Clock } from '../base/runtime/clock.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface Pace {
  /** So many in a row have their turn at once. */
  readonly free: number;
  /** How far apart those behind them are. */
  readonly apartMs: DurationMs;
  /** Nobody waits longer: where too many are in line for that, several have their turn together. */
  readonly longestMs: DurationMs;
}

interface Waiting {
  /** Unix milliseconds at which it has waited long enough. */
  readonly until: UnixMs;
  /** @param isThere false: it has left */
  readonly pass: (isThere: boolean) => void;
  /** True once it has passed or left. */
  isOver: boolean;
}

export class WaitingLine {
  readonly #clock: Clock;
  readonly #pace: Pace;
  /** Requests that wait, from `#first` on, and some that have left. */
  #all: Waiting[] = [];
  #first = 0;
  /** How many wait. */
  #there = 0;
  /** Unix milliseconds at which the latest turn would have been, if none had come early. */
  #lastAt = 0;

  constructor(clock: Clock, pace: Pace) {
    this.#clock = clock;
    this.#pace = pace;
  }

  /** Takes a turn that need not be waited for. @returns false where there is none */
  pass(): boolean {
    const { free, apartMs } = this.#pace;
    if (this.#all.length > 0) return false;
    const now = this.#clock.now();
    const at = Math.max(this.#lastAt, now - free * apartMs) + apartMs;
    if (at > now) return false;
    this.#lastAt = at;
    return true;
  }

  /** A turn was not needed: whoever waits longest has it. */
  giveBack(): void {
    this.#lastAt -= this.#pace.apartMs;
    const first = this.#firstThere();
    if (first) this.#end(first, true);
  }

  /**
   * Waits for a turn.
   * @param signal of one that may leave
   * @returns false where it has left
   */
  wait(signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const until = this.#clock.now() + this.#pace.longestMs;
    const waiting: Waiting = { until, pass: resolve, isOver: false };
    if (this.#all.length === 0) this.#goOn();
    this.#all.push(waiting);
    this.#there += 1;
    signal?.addEventListener('abort', () => this.#end(waiting, false), { once: true });
    return promise;
  }

  #end(waiting: Waiting, isThere: boolean): void {
    if (waiting.isOver) return;
    waiting.isOver = true;
    this.#there -= 1;
    waiting.pass(isThere);
  }

  #goOn(): void {
    this.#clock.after(this.#pace.apartMs, () => this.#next());
  }

  #next(): void {
    const { apartMs } = this.#pace;
    const now = this.#clock.now();
    this.#lastAt = now;
    let first = this.#firstThere();
    // So many that all have passed when the first has waited long enough.
    const many = first && Math.ceil((this.#there * apartMs) / Math.max(apartMs, first.until - now));
    for (let passed = 0; first && passed < (many ?? 0); passed += 1) {
      this.#end(first, true);
      first = this.#firstThere();
    }
    if (first) return this.#goOn();
    this.#all = [];
    this.#first = 0;
  }

  #firstThere(): Waiting | undefined {
    while (this.#all[this.#first]?.isOver) this.#first += 1;
    // Not each time: that moves all of them.
    if (this.#first > this.#all.length / 2) {
      this.#all.splice(0, this.#first);
      this.#first = 0;
    }
    return this.#all[this.#first];
  }
}
