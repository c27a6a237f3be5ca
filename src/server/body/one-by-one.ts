// Pieces of work of which one is done in each turn of the event loop, in the order in which they came, so that all others
// have their turns in between, however many pieces there are. Knows nothing of the work.
import { nextTurn } from '../../base/runtime/clock.ts';

export class OneByOne {
  #waiting: (() => void)[] = [];

  /** @param work is not done before the next turn; must not throw */
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
