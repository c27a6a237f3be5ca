// Finished lines of a batch, read in pages and in file order.
import type { BatchStore, EndedLine } from '../../accounts/ports/index.ts';

const PAGE = 500;

/** Must be called with ascending line numbers. */
export class EndedLines<Line> {
  readonly #page: (after: number, limit: number) => Promise<readonly Line[]>;
  readonly #numberOf: (line: Line) => number;
  #lines: readonly Line[] = [];
  #at = 0;
  #after = 0;
  #isLast = false;

  private constructor(
    page: (after: number, limit: number) => Promise<readonly Line[]>,
    numberOf: (line: Line) => number,
  ) {
    this.#page = page;
    this.#numberOf = numberOf;
  }

  static numbers(store: BatchStore, id: string): EndedLines<number> {
    return new EndedLines(
      (after, limit) => store.endedNumbers(id, after, limit),
      (number) => number,
    );
  }

  static results(store: BatchStore, id: string): EndedLines<Omit<EndedLine, 'spend' | 'failure'>> {
    return new EndedLines(
      (after, limit) => store.ended(id, after, limit),
      ({ number }) => number,
    );
  }

  /** Null: the line had not ended when its page was read. */
  async at(number: number): Promise<Line | null> {
    for (;;) {
      const line = await this.#current();
      if (line === null) return null;
      const found = this.#numberOf(line);
      if (found > number) return null;
      this.#passed(found);
      if (found === number) return line;
    }
  }

  /** The next line that has ended. Null: there are no more. */
  async next(): Promise<Line | null> {
    const line = await this.#current();
    if (line !== null) this.#passed(this.#numberOf(line));
    return line;
  }

  async #current(): Promise<Line | null> {
    for (;;) {
      const line = this.#lines[this.#at];
      if (line !== undefined) return line;
      if (this.#isLast) return null;
      this.#lines = await this.#page(this.#after, PAGE);
      this.#isLast = this.#lines.length < PAGE;
      this.#at = 0;
    }
  }

  #passed(number: number): void {
    this.#at += 1;
    this.#after = number;
  }
}
