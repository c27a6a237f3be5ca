// Chunked transfer coding (RFC 9112 section 7.1), decoded from byte strings in pieces of any size.

/** Longest line of a chunk's size, or of a trailer. */
const MAX_LINE = 4096;
/** Most bytes of extensions in one body, and of trailers behind it: nobody needs any, and neither counts as an answer. */
const MAX_EXTENSIONS = 16 * 1024;
const MAX_TRAILERS = 16 * 1024;

export class ChunkedDecoder {
  #state: 'size' | 'data' | 'data-end' | 'trailers' = 'size';
  #left = 0;
  #rest = '';
  #extensions = 0;
  #trailers = 0;
  /** True once the last chunk and its trailers were read. */
  done = false;
  /** True: bytes follow the end of the body. The peer broke the protocol. */
  surplus = false;

  /** The payload in this piece. Throws RangeError on malformed framing. */
  push(piece: string): string {
    const text = this.#rest === '' ? piece : this.#rest + piece;
    this.#rest = '';
    let out = '';
    let at = 0;
    while (at < text.length) {
      if (this.#state === 'data') {
        const end = Math.min(at + this.#left, text.length);
        // The usual read holds one whole chunk: its payload is a slice, not a copy.
        out = out === '' ? text.slice(at, end) : out + text.slice(at, end);
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#state = 'data-end';
        continue;
      }
      const end = text.indexOf('\r\n', at);
      if (end < 0) {
        // What begins behind a chunk is two bytes long: more of it will never be right.
        if (text.length - at > (this.#state === 'data-end' ? 1 : MAX_LINE))
          throw new RangeError(
            this.#state === 'data-end' ? 'chunk longer than announced' : 'chunk header too long',
          );
        this.#rest = text.slice(at);
        return out;
      }
      this.#line(text, at, end);
      at = end + 2;
      if (this.done) {
        this.surplus = at < text.length;
        return out;
      }
    }
    return out;
  }

  #line(text: string, from: number, end: number): void {
    switch (this.#state) {
      case 'data-end':
        if (end !== from) throw new RangeError('chunk longer than announced');
        this.#state = 'size';
        return;
      case 'trailers':
        if (end === from) this.done = true;
        else if ((this.#trailers += end - from + 2) > MAX_TRAILERS) throw new RangeError('too many trailers');
        return;
      default:
        this.#begin(text, from, end);
    }
  }

  #begin(text: string, from: number, end: number): void {
    let size = 0;
    let at = from;
    for (; at < end; at++) {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    if (at === from || at - from > 8) throw new RangeError('malformed chunk size');
    if (at < end) this.#extension(text.slice(at, end));
    this.#left = size;
    this.#state = size === 0 ? 'trailers' : 'data';
  }

  /** Extensions begin with a semicolon, perhaps after white space; they mean nothing to us. */
  #extension(text: string): void {
    if (!/^[ \t]*(?:;[^\0\r\n]*)?$/.test(text)) throw new RangeError('malformed chunk size');
    this.#extensions += text.length;
    if (this.#extensions > MAX_EXTENSIONS) throw new RangeError('too many chunk extensions');
  }
}

/** The value of a hexadecimal digit by its character code; -1 for anything else. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  return code >= 65 && code <= 70 ? code - 55 : -1;
}
