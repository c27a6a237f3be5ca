// Long work in slices, so that others have their turn: reading thousands of lines must not hold up the event loop.
import { nextTurn } from '../../base/runtime/clock.ts';

/** Length of a slice, in milliseconds. */
const SLICE_MS = 5;

export class TimeSlices {
  #since = performance.now();

  /** True: others are to have their turn now. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Resolves when others have had it. */
  async next(): Promise<void> {
    await new Promise<void>(nextTurn);
    this.#since = performance.now();
  }
}
