// Answers that are ready and sent a little later. So many at most: each is about a kilobyte. Knows not why.
import type { Clock } from '../base/runtime/clock.ts';

/** Answers that are held back at once; what is beyond is sent at once. */
const MOST_HELD = 10_000;

export class HeldAnswers {
  readonly #clock: Pick<Clock, 'after'>;
  #held = 0;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** True where no more can be held. */
  get isFull(): boolean {
    return this.#held >= MOST_HELD;
  }

  /** @param delayMs more than 0 @returns the answer, when it may be sent */
  hold(answer: Response, delayMs: number): Promise<Response> {
    this.#held += 1;
    return new Promise((resolve) => {
      this.#clock.after(delayMs, () => {
        this.#held -= 1;
        resolve(answer);
      });
    });
  }
}
