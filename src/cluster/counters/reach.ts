// Circuit breaker for the shared store. After two failures requests no longer wait for it, and it is called only in the
// background until it responds again. So a slow store does not delay requests.
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { DurationMs } from '../../base/units.ts';

/** Timeout of a call in milliseconds. */
const CALL_MS = 250;
/** Consecutive failures after which the store counts as unreachable. */
const MOST_FAILURES = 2;
/** Pause after the first and after further failures, in milliseconds. */
const PAUSE_MS = [250, 1000] as const;

interface ReachOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Log message for an unreachable store. */
  readonly gone: string;
  readonly back: string;
}

export class Reach {
  readonly #options: ReachOptions;
  #failures = MOST_FAILURES;
  /** State that was last logged. */
  #wasOpen = true;
  #mayTryAt = -Infinity;

  constructor(options: ReachOptions) {
    this.#options = options;
  }

  /** False before the first response, and while the store is unreachable. */
  get isOpen(): boolean {
    return this.#failures < MOST_FAILURES;
  }

  /** True unless the store is paused after a failure. */
  get mayTry(): boolean {
    return this.isOpen || this.#options.elapsed() >= this.#mayTryAt;
  }

  /** Calls the store. @returns the response; null after a failure or timeout */
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

/** Rejects if `work` takes longer than `ms` milliseconds. */
export function inTime<T>(work: Promise<T>, ms: DurationMs, clock: Pick<Clock, 'after'>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = clock.after(ms, () => reject(new Error(`no response within ${ms} ms`)));
    work.then(resolve, reject).finally(late);
  });
}
