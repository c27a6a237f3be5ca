// Removes from the text of a continuation what the client already has: a repetition of the text so far, and white
// space that ended it. Knows nothing of events; holds back only what is not decided yet.

/** A shorter text at the start of a continuation may be a coincidence. */
const LEAST_REPETITION = 8;

export class RepetitionFilter {
  /** The text so far without the white space around it; '' when no repetition is looked for. */
  readonly #said: string;
  /** White space at the end of the text so far: the model was not shown it and may write it again. */
  readonly #space: string;
  #state: 'repetition' | 'space' | 'through';
  /** White space before a possible repetition. */
  #lead = '';
  /** Characters of `said` that were repeated so far. */
  #repeated = 0;
  #spaceSeen = 0;
  /** Characters that were taken and will never be returned. */
  removed = 0;

  /**
   * @param shown what the client has
   * @param repeats true when the model is known to begin by repeating it: then a short text is removed as well
   */
  constructor(shown: string, repeats: boolean) {
    this.#said = shown.trim();
    this.#space = shown.slice(shown.trimEnd().length);
    const least = repeats ? 1 : LEAST_REPETITION;
    this.#state = this.#said.length >= least ? 'repetition' : 'space';
  }

  /** Takes the next piece of the continuation. @returns what of it, and of what was held back, is new */
  push(piece: string): string {
    switch (this.#state) {
      case 'repetition':
        return this.#repetition(piece);
      case 'space':
        return this.#skipSpace(piece);
      case 'through':
        return piece;
    }
  }

  /** The text is over. @returns what was held back and is no repetition */
  end(): string {
    return this.#state === 'repetition' ? this.#release('') : '';
  }

  #repetition(piece: string): string {
    let rest = piece;
    if (this.#repeated === 0) {
      rest = piece.trimStart();
      this.#lead += piece.slice(0, piece.length - rest.length);
      if (rest === '') return '';
    }
    const length = Math.min(rest.length, this.#said.length - this.#repeated);
    if (!this.#said.startsWith(rest.slice(0, length), this.#repeated)) return this.#release(rest);
    this.#repeated += length;
    if (this.#repeated < this.#said.length) return '';
    this.removed += this.#lead.length + this.#said.length;
    this.#state = 'space';
    return this.#skipSpace(rest.slice(length));
  }

  /** It was no repetition after all. @param rest what comes after the text that was held back */
  #release(rest: string): string {
    this.#state = 'space';
    return this.#skipSpace(this.#lead + this.#said.slice(0, this.#repeated) + rest);
  }

  #skipSpace(piece: string): string {
    let at = 0;
    while (at < piece.length && piece[at] === this.#space[this.#spaceSeen]) {
      at++;
      this.#spaceSeen++;
    }
    if (at < piece.length || this.#spaceSeen === this.#space.length) this.#state = 'through';
    this.removed += at;
    return piece.slice(at);
  }
}
