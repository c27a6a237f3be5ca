// Chunked transfer coding (RFC 9112 section 7.1), decoded in pieces of any size.

/** Longest line of a chunk's size, or of a trailer. */
const MAX_LINE = 4096;
/** Most bytes of extensions in one body, and of trailers behind it: nobody needs any, and neither counts as an answer. */
const MAX_EXTENSIONS = 16 * 1024;
const MAX_TRAILERS = 16 * 1024;

const CR = 13;
const LF = 10;
const NOTHING: Buffer = Buffer.alloc(0);

export class ChunkedDecoder {
  #state: 'size' | 'data' | 'data-end' | 'trailers' = 'size';
  #left = 0;
  #rest = NOTHING;
  #extensions = 0;
  #trailers = 0;
  /** True once the last chunk and its trailers were read. */
  done = false;
  /** True: bytes follow the end of the body. The peer broke the protocol. */
  surplus = false;

  /**
   * The payload in this piece. Throws RangeError on malformed framing.
   * @param piece is written to: payloads behind the first are moved up to it
   */
  push(piece: Buffer): Buffer {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    this.#rest = NOTHING;
    /** The payload so far. The usual read holds one whole chunk, of which nothing has to be moved. */
    let from = 0;
    let to = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === 'data') {
        const end = Math.min(at + this.#left, bytes.length);
        if (to === 0) from = to = at;
        else bytes.copyWithin(to, at, end);
        to += end - at;
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#state = 'data-end';
        continue;
      }
      const end = lineEnd(bytes, at);
      if (end < 0) {
        // The end of a chunk is two bytes long: more of it will never be right.
        if (bytes.length - at > (this.#state === 'data-end' ? 1 : MAX_LINE))
          throw new RangeError(
            this.#state === 'data-end' ? 'chunk longer than announced' : 'chunk header too long',
          );
        this.#rest = bytes.subarray(at);
        break;
      }
      this.#line(bytes, at, end);
      at = end + 2;
      if (this.done) {
        this.surplus = at < bytes.length;
        break;
      }
    }
    return bytes.subarray(from, to);
  }

  #line(bytes: Buffer, from: number, end: number): void {
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
        this.#begin(bytes, from, end);
    }
  }

  #begin(bytes: Buffer, from: number, end: number): void {
    let size = 0;
    let at = from;
    for (; at < end; at++) {
      const digit = hexDigit(bytes[at] ?? 0);
      if (digit < 0) break;
      size = size * 16 + digit;
    }
    if (at === from || at - from > 8) throw new RangeError('malformed chunk size');
    if (at < end) this.#extension(bytes.toString('latin1', at, end));
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

/** Offset of the next CR LF; -1: there is none. */
function lineEnd(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(CR, from);
  while (at >= 0 && bytes[at + 1] !== LF) at = bytes.indexOf(CR, at + 1);
  return at;
}

/** The value of a hexadecimal digit by its character code; -1 for anything else. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  return code >= 65 && code <= 70 ? code - 55 : -1;
}
