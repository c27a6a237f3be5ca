// Builds plain text from words: white space, empty lines, and marks at the beginning of lines. Independent of the
// markup.
import { visibleText } from '../visible-text.ts';
import { startOf } from '../../../base/lib/cut-text.ts';

/** Maximum marks before one word. Each is stored, and only hostile documents have more. */
const MOST_MARKS = 8;

export class TextWriter {
  readonly #most: number;
  readonly #pieces: string[] = [];
  #length = 0;
  /** Line breaks before the next word. */
  #breaks = 0;
  #needsSpace = false;
  /** Marks before the next word, innermost last. */
  readonly #marks: string[] = [];

  /** @param most maximum characters; further text is dropped */
  constructor(most: number) {
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#length >= this.#most;
  }

  /** Characters so far. */
  get length(): number {
    return this.#length;
  }

  /** Adds text whose white space is collapsed. */
  words(text: string): void {
    // First, because some invisible characters count as white space.
    const clean = visibleText(text).replace(/\s+/g, ' ');
    const words = clean.trim();
    if (clean.startsWith(' ')) this.#needsSpace = true;
    if (words === '') return;
    this.#put(words);
    this.#needsSpace = clean.endsWith(' ');
  }

  /** Adds text whose white space is kept. */
  verbatim(text: string): void {
    const clean = visibleText(text).replace(/\r\n?/g, '\n');
    if (clean !== '') this.#put(clean);
  }

  /** Starts a new line at the next word; 2: after an empty line. */
  lineBreak(count: 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, count);
  }

  /** Adds a mark before the next word. Beyond the maximum, the outer marks are kept. */
  mark(text: string): void {
    if (this.#marks.length < MOST_MARKS) this.#marks.push(text);
  }

  /** Removes a mark if no word followed it. */
  forgetMark(text: string): void {
    if (this.#marks.at(-1) === text) this.#marks.pop();
  }

  /** Appends text directly. */
  behind(text: string): void {
    this.#push(text);
  }

  toString(): string {
    return startOf(this.#pieces.join(''), this.#most);
  }

  #put(text: string): void {
    if (this.#length > 0 && this.#breaks > 0) this.#push('\n'.repeat(this.#breaks));
    else if (this.#length > 0 && this.#needsSpace) this.#push(' ');
    this.#breaks = 0;
    this.#needsSpace = false;
    for (const mark of this.#marks) this.#push(mark);
    this.#marks.length = 0;
    this.#push(text);
  }

  #push(text: string): void {
    if (this.isFull) return;
    this.#pieces.push(text);
    this.#length += text.length;
  }
}
