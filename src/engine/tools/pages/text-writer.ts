// Puts the words of a document together as plain text: white space, empty lines, marks at the beginning of a line.
// Knows nothing of markup; the readers of markup tell it what comes.
import { visibleText } from '../visible-text.ts';
import { startOf } from '../../../base/lib/cut-text.ts';

/** Before one word: more are no document but an attack, since every one of them is remembered. */
const MOST_MARKS = 8;

export class TextWriter {
  readonly #most: number;
  readonly #pieces: string[] = [];
  #length = 0;
  /** Line breaks before the next word. */
  #breaks = 0;
  #needsSpace = false;
  /** Marks that stand before the next word, the last one innermost. */
  readonly #marks: string[] = [];

  /** @param most characters; what comes after them is not kept */
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

  /** Running text, whose white space means no more than a space. */
  words(text: string): void {
    // First: some of what shows nothing counts as white space.
    const clean = visibleText(text).replace(/\s+/g, ' ');
    const words = clean.trim();
    if (clean.startsWith(' ')) this.#needsSpace = true;
    if (words === '') return;
    this.#put(words);
    this.#needsSpace = clean.endsWith(' ');
  }

  /** Text whose white space counts. */
  verbatim(text: string): void {
    const clean = visibleText(text).replace(/\r\n?/g, '\n');
    if (clean !== '') this.#put(clean);
  }

  /** The next word begins a line: with 2, after an empty one. */
  lineBreak(count: 1 | 2): void {
    this.#breaks = Math.max(this.#breaks, count);
  }

  /** A mark before the next word, if there is one. Of too many before one word the outer ones are kept. */
  mark(text: string): void {
    if (this.#marks.length < MOST_MARKS) this.#marks.push(text);
  }

  /** Takes a mark back if nothing came behind it. */
  forgetMark(text: string): void {
    if (this.#marks.at(-1) === text) this.#marks.pop();
  }

  /** Directly behind what is there. */
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
