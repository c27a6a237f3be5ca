// Removes what the client already has from a continuation: a repetition of the text so far, and its trailing white
// space. Holds back only undecided text.

/** Minimum characters of a repetition; a shorter match may be a coincidence. */
const LEAST_REPETITION = 8;

export class RepetitionFilter {
  /** Trimmed text so far. Empty: repetitions are not searched. */
  readonly #said: string;
  /** Trailing white space of the text so far. The model did not receive it and may write it again. */
  readonly #space: string;
  #state: 'repetition' | 'space' | 'through';
  /** White space before a possible repetition. */
  #lead = '';
  /** Number of characters of `said` repeated so far. */
  #repeated = 0;
  #spaceSeen = 0;
  /** Number of characters removed. */
  removed = 0;

  /**
   * @param shown text that the client has
   * @param repeats true: the model is known to repeat it, so that a short text is removed as well
   */
  constructor(shown: string, repeats: boolean) {
    this.#said = shown.trim();
    this.#space = shown.slice(shown.trimEnd().length);
    const least = repeats ? 1 : LEAST_REPETITION;
    this.#state = this.#said.length >= least ? 'repetition' : 'space';
  }

  /** Consumes the next text. @returns the new part of it and of what was held back */
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

  /** Ends the text. @returns held text that is not a repetition */
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

  /** Releases text that turned out not to be a repetition. @param rest text after it */
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
