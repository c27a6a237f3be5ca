// Read position in the text of a regular expression.
import { TEXTS } from '../../canonical/index.ts';
import { broken } from './problem.ts';

/** `rust`: the regex crate, used by OpenAI's grammars. `ecma`: ECMAScript, used by JSON Schema. */
export type RegexDialect = 'rust' | 'ecma';

/** Maximum nesting depth of a pattern. */
const DEEPEST = 200;

export class RegexCursor {
  readonly dialect: RegexDialect;
  /** JSON path of the text in the client's body. */
  readonly path: string;
  readonly #chars: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(text: string, dialect: RegexDialect, path: string) {
    this.#chars = Array.from(text);
    this.dialect = dialect;
    this.path = path;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#chars.length;
  }

  /** The next character; empty at the end. */
  get peek(): string {
    return this.#chars[this.#at] ?? '';
  }

  /** Consumes the next character. Throws GatewayError at the end. */
  next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw broken(this.path, 'the pattern ends unexpectedly');
    return char;
  }

  sees(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.#chars[this.#at + i] !== text[i]) return false;
    return true;
  }

  /** Consumes this text if it comes next. */
  take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.#at += text.length;
    return true;
  }

  /** Returns up to `count` following characters without consuming them. */
  ahead(count: number): string {
    return this.#chars.slice(this.#at, this.#at + count).join('');
  }

  /** Consumes up to `count` characters. */
  read(count: number): string {
    const text = this.ahead(count);
    this.#at += count;
    return text;
  }

  /**
   * Consumes everything up to and including this text, and returns what precedes it. Undefined: the text was not found,
   * and nothing was consumed.
   */
  until(text: string): string | undefined {
    const from = this.#at;
    while (!this.isAtEnd) {
      const end = this.#at;
      if (this.take(text)) return this.#chars.slice(from, end).join('');
      this.#at++;
    }
    this.#at = from;
    return undefined;
  }

  /** Runs one nesting level deeper. Throws GatewayError beyond the maximum depth. */
  deeper<T>(read: () => T): T {
    if (++this.#depth > DEEPEST) throw broken(this.path, TEXTS.tooDeep(DEEPEST));
    const result = read();
    this.#depth--;
    return result;
  }
}
