// Whether a store that processes share answers. One that is slow is worse than one that is gone: after two failures nobody waits
// for it any more, and it is asked in the background alone until it answers again.
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { DurationMs } from '../../base/units.ts';

/** How long an answer may take, in milliseconds. */
const CALL_MS = 250;
/** Failures in a row after which it counts as out of reach. */
const MOST_FAILURES = 2;
/** How long it is left alone after a failure, growing from the first to the second, in milliseconds. */
const PAUSE_MS = [250, 1000] as const;

interface ReachOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Milliseconds that only go forward. */
  readonly elapsed: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Told when nobody is waited for any more, and when it answers again. */
  readonly gone: string;
  readonly back: string;
}

export class Reach {
  readonly #options: ReachOptions;
  #failures = MOST_FAILURES;
  /** As it was last told. */
  #wasOpen = true;
  #mayTryAt = -Infinity;

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  /** False before the first answer, and while there is none. */
  get isOpen(): boolean {
    return this.#failures < MOST_FAILURES;
  }

  /** Whether it may be asked, as far as it failed before. */
  get mayTry(): boolean {
    return this.isOpen || this.#options.elapsed() >= this.#mayTryAt;
  }

  /** @returns the answer; null where there was none in time */
  async ask<T>(call: () => Promise<T>): Promise<{ readonly answer: T } | null> {
    const { clock, log, gone, back } = this.#options;
    try {
      const answer = await inTime(call(), CALL_MS, clock);
      this.#failures = 0;
      if (!this.#wasOpen) log.info(back);
      this.#wasOpen = true;
      return { answer };
    } catch (error) {
      this.#failures += 1;
      const pauseMs = PAUSE_MS[0] * 2 ** Math.min(8, Math.max(0, this.#failures - MOST_FAILURES));
      this.#mayTryAt = this.#options.elapsed() + Math.min(PAUSE_MS[1], pauseMs);
      if (!this.isOpen && this.#wasOpen) log.warn(gone, { error });
      this.#wasOpen = this.isOpen;
      return null;
    }
  }
}

/** Rejects where something takes longer than so many milliseconds. */
export function inTime<T>(work: Promise<T>, ms: DurationMs, clock: Pick<Clock, 'after'>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = clock.after(ms, () => reject(new Error(`no answer within ${ms} ms`)));
    work.then(resolve, reject).finally(late);
  });
}
