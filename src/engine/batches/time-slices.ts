// Splits long work into time slices, so that reading thousands of lines does not block the event loop.
import { nextTurn } from '../../base/runtime/clock.ts';

/** Length of a slice, in milliseconds. */
const SLICE_MS = 5;

export class TimeSlices {
  #since = performance.now();

  /** True: the current slice has ended. */
  get isOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  /** Yields to the event loop. */
  async next(): Promise<void> {
    await new Promise<void>(nextTurn);
    this.#since = performance.now();
  }
}
