// Rate-limited queue: waiters pass one after the other, and those that leave are skipped.
import type { Clock } from '../base/runtime/clock.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface Pace {
  /** Number of consecutive waiters that pass immediately. */
  readonly free: number;
  /** Interval between further ones. */
  readonly apartMs: DurationMs;
  /** Maximum wait. If the queue is too long for that, several pass together. */
  readonly longestMs: DurationMs;
}

interface Waiting {
  /** Unix milliseconds at which the maximum wait ends. */
  readonly until: UnixMs;
  /** @param isConnected false: the waiter has left */
  readonly pass: (isConnected: boolean) => void;
  /** True once it has passed or left. */
  isOver: boolean;
}

export class WaitingLine {
  readonly #clock: Clock;
  readonly #pace: Pace;
  /** Waiters from `#first` on, including some that have left. */
  #all: Waiting[] = [];
  #first = 0;
  /** Number of waiters. */
  #length = 0;
  /** Unix milliseconds of the latest turn, if none had been early. */
  #lastAt = 0;

  constructor(clock: Clock, pace: Pace) {
    this.#clock = clock;
    this.#pace = pace;
  }

  /** Takes a turn without waiting. @returns false when none is available */
  pass(): boolean {
    const { free, apartMs } = this.#pace;
    if (this.#all.length > 0) return false;
    const now = this.#clock.now();
    const at = Math.max(this.#lastAt, now - free * apartMs) + apartMs;
    if (at > now) return false;
    this.#lastAt = at;
    return true;
  }

  /** Returns an unused turn, which goes to the longest waiter. */
  release(): void {
    this.#lastAt -= this.#pace.apartMs;
    const first = this.#firstWaiting();
    if (first) this.#end(first, true);
  }

  /** Waits for a turn. @param signal aborts when the waiter leaves @returns false when it has left */
  wait(signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const until = this.#clock.now() + this.#pace.longestMs;
    const waiting: Waiting = { until, pass: resolve, isOver: false };
    if (this.#all.length === 0) this.#scheduleNext();
    this.#all.push(waiting);
    this.#length += 1;
    signal?.addEventListener('abort', () => this.#end(waiting, false), { once: true });
    return promise;
  }

  #end(waiting: Waiting, isConnected: boolean): void {
    if (waiting.isOver) return;
    waiting.isOver = true;
    this.#length -= 1;
    waiting.pass(isConnected);
  }

  #scheduleNext(): void {
    this.#clock.after(this.#pace.apartMs, () => this.#next());
  }

  #next(): void {
    const { apartMs } = this.#pace;
    const now = this.#clock.now();
    this.#lastAt = now;
    let first = this.#firstWaiting();
    // As many as necessary for all to pass by the end of the first waiter's maximum wait.
    const many = first && Math.ceil((this.#length * apartMs) / Math.max(apartMs, first.until - now));
    for (let passed = 0; first && passed < (many ?? 0); passed += 1) {
      this.#end(first, true);
      first = this.#firstWaiting();
    }
    if (first) return this.#scheduleNext();
    this.#all = [];
    this.#first = 0;
  }

  #firstWaiting(): Waiting | undefined {
    while (this.#all[this.#first]?.isOver) this.#first += 1;
    // Not done each time, because it moves all entries.
    if (this.#first > this.#all.length / 2) {
      this.#all.splice(0, this.#first);
      this.#first = 0;
    }
    return this.#all[this.#first];
  }
}
