// Counts how deep the JSON of an answer nests while its bytes arrive, so that one who nests without end is stopped before
// anybody parses it. Reads single bodies and event streams. Knows nothing of what the JSON says.

const LF = 10;
const CR = 13;
const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;

/** State of the scan at one byte of an answer's text. */
type Place =
  /** At the beginning of a line of an event stream. */
  | 'line'
  /** In the name of its field. */
  | 'field'
  /** In what nobody parses: comments, names and ids of events. */
  | 'other'
  | 'json'
  | 'string'
  /** Behind a backslash in a string. */
  | 'escape';

export class NestingWatch {
  readonly #most: number;
  readonly #isStream: boolean;
  #place: Place;
  #field = '';
  #depth = 0;
  #last = 0;

  /**
   * @param most the deepest nesting that is allowed
   * @param contentType of the answer
   */
  constructor(most: number, contentType: string | null) {
    this.#most = most;
    this.#isStream = /^\s*text\/event-stream/i.test(contentType ?? '');
    this.#place = this.#isStream ? 'line' : 'json';
  }

  /** Takes the next bytes. @returns false when they nest too deeply */
  take(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length; at++) {
      const code = bytes[at] ?? 0;
      if (this.#isStream && (code === LF || code === CR)) this.#endLine(code);
      else this.#read(code);
      this.#last = code;
      if (this.#depth > this.#most) return false;
      // Most of an answer is text.
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
        // `[` and `{`, `]` and `}`: they differ in one bit.
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

  /** No string of JSON goes over an end of a line. Several lines of data are one text; an empty line ends it. */
  #endLine(code: number): void {
    const isRest = code === LF && this.#last === CR;
    if (this.#place === 'line' && !isRest) this.#depth = 0;
    this.#place = 'line';
  }
}

/** Offset of the last byte that is plain text of a string. @param at offset of a byte before it */
function textEnd(bytes: Uint8Array, at: number, hasLines: boolean): number {
  let next = at + 1;
  while (next < bytes.length) {
    const code = bytes[next];
    if (code === QUOTE || code === BACKSLASH || (hasLines && (code === LF || code === CR))) break;
    next++;
  }
  return next - 1;
}
