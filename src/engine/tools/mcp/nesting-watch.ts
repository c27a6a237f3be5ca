// Tracks the nesting depth of JSON while its bytes arrive, so that excessive nesting is stopped before parsing. Reads
// single bodies and event streams.

const LF = 10;
const CR = 13;
const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;

/** State of the scanner. */
type Place =
  /** At the beginning of a line in an event stream. */
  | 'line'
  /** In the field name. */
  | 'field'
  /** In content that is not parsed: comments, event names and ids. */
  | 'other'
  | 'json'
  | 'string'
  /** After a backslash in a string. */
  | 'escape';

export class NestingWatch {
  readonly #most: number;
  readonly #isStream: boolean;
  #place: Place;
  #field = '';
  #depth = 0;
  #last = 0;

  /** @param most maximum nesting depth @param contentType of the response */
  constructor(most: number, contentType: string | null) {
    this.#most = most;
    this.#isStream = /^\s*text\/event-stream/i.test(contentType ?? '');
    this.#place = this.#isStream ? 'line' : 'json';
  }

  /** Consumes bytes. @returns false when the nesting is too deep */
  take(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; at++) {
      const code = bytes[at] ?? 0;
      if (this.#isStream && (code === LF || code === CR)) this.#endLine(code);
      else this.#read(code);
      this.#last = code;
      if (this.#depth > this.#most) return false;
      // Most of a response is text.
      if (this.#place === 'string') at = textEnd(bytes, at, this.#isStream);
    }
    return true;
  }

  #read(code: number): void {
    if (this.#place === 'line') {
      this.#field = '';
      this.#place = 'field';
    }
    switch (this.#place) {
      case 'field':
        if (code === COLON) this.#place = this.#field.endsWith('data') ? 'json' : 'other';
        else if (this.#field.length < 8) this.#field += String.fromCharCode(code);
        return;
      case 'json':
        if (code === QUOTE) this.#place = 'string';
        // `[` and `{` differ in one bit, and so do `]` and `}`.
        else if ((code | 32) === 123) this.#depth++;
        else if ((code | 32) === 125) this.#depth--;
        return;
      case 'string':
        if (code === QUOTE) this.#place = 'json';
        else if (code === BACKSLASH) this.#place = 'escape';
        return;
      case 'escape':
        this.#place = 'string';
        return;
      default:
    }
  }

  /** JSON strings contain no line breaks. Several data lines form one text, which an empty line ends. */
  #endLine(code: number): void {
    const isRest = code === LF && this.#last === CR;
    if (this.#place === 'line' && !isRest) this.#depth = 0;
    this.#place = 'line';
  }
}

/** Offset of the last byte of plain text in a string. @param at offset of a byte before it */
function textEnd(bytes: Uint8Array, at: number, hasLines: boolean): number {
  let next = at + 1;
  while (next < bytes.length) {
    const code = bytes[next];
    if (code === QUOTE || code === BACKSLASH || (hasLines && (code === LF || code === CR))) break;
    next++;
  }
  return next - 1;
}
