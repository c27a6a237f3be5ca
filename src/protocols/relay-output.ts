// What a relayed stream lets through to the client. Owns the hold: nothing goes out before the first content, for
// until then another upstream may still give the answer. Knows no protocol.

/** Most bytes that are held back for the first content: more is a broken upstream. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

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
    if (frames.length > MAX_HELD_BYTES) throw new RangeError('the stream begins with too much');
    return '';
  }
}
