// What a relayed stream lets through to the client. Owns the hold: nothing goes out before the first content, for
// until then another upstream may still give the answer. Knows no protocol.
import { MAX_HELD_BYTES } from '../canonical/index.ts';

export class RelayOutput {
  #frames = '';

  /** Adds frames that the client shall get. */
  add(frames: string): void {
    this.#frames += frames;
  }

  /**
   * Takes what may go out now.
   * @param committed true once content was seen; before it, all stays here
   * @throws RangeError when too much is held back
   */
  release(committed: boolean): string {
    const frames = this.#frames;
    if (committed) {
      this.#frames = '';
      return frames;
    }
    if (frames.length > MAX_HELD_BYTES)
      throw new RangeError(`the stream begins with more than ${MAX_HELD_BYTES} bytes without content`);
    return '';
  }
}
