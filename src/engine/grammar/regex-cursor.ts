// A place in the text of a regular expression that is being read. Knows no syntax.
import { TEXTS } from '../../canonical/index.ts';
import { broken } from './problem.ts';

/** `rust`: the regex crate, which OpenAI's grammars use. `ecma`: ECMAScript, which JSON Schema uses. */
export type RegexDialect = 'rust' | 'ecma';

/** Deeper nesting than this is nobody's honest pattern. */
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

  /** The next character; '' at the end. */
  get peek(): string {
    return this.#chars[this.#at] ?? '';
  }

  /** Takes the next character. Throws GatewayError at the end. */
  next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw broken(this.path, 'the pattern ends too early');
    return char;
  }

  sees(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.#chars[this.#at + i] !== text[i]) return false;
    return true;
  }

  /** Takes this text if it comes next. */
  take(text: string): boolean {
    if (!this.sees(text)) return false;
    this.#at += text.length;
    return true;
  }

  /** The next characters, up to this many; none is taken. */
  ahead(count: number): string {
    return this.#chars.slice(this.#at, this.#at + count).join('');
  }

  /** Takes this many characters, or as many as there are. */
  read(count: number): string {
    const text = this.ahead(count);
    this.#at += count;
    return text;
  }

  /** Takes everything before this text, and the text; undefined, and nothing taken, when it does not come. */
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

  /** Runs one level deeper. Throws GatewayError where there are too many. */
  deeper<T>(read: () => T): T {
    if (++this.#depth > DEEPEST) throw broken(this.path, TEXTS.tooDeep(DEEPEST));
    const result = read();
    this.#depth--;
    return result;
  }
}
