// Runs one piece of work per turn of the event loop, in order, so that other work runs in between.
import { nextTurn } from '../../base/runtime/clock.ts';

export class OneByOne {
  #waiting: (() => void)[] = [];

  /** @param work runs in a later turn; must not throw */
  add(work: () => void): void {
    if (this.#waiting.push(work) === 1) nextTurn(this.#next);
  }

  readonly #next = (): void => {
    const work = this.#waiting[0];
    work?.();
    this.#waiting.shift();
    if (this.#waiting.length > 0) nextTurn(this.#next);
  };
}
