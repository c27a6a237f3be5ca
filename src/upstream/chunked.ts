// Chunked transfer coding (RFC 9112 section 7.1), decoded from byte strings in pieces of any size.

const MAX_LINE = 8192;

export class ChunkedDecoder {
  #state: 'size' | 'data' | 'data-end' | 'trailers' = 'size';
  #left = 0;
  #rest = '';
  /** True once the last chunk and its trailers were read. */
  done = false;
  /** Bytes behind the end of the body: the peer broke the protocol, do not reuse the connection. */
  surplus = '';

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
        if (text.length - at > MAX_LINE) throw new RangeError('chunk header too long');
        this.#rest = text.slice(at);
        return out;
      }
      this.#line(text, at, end);
      at = end + 2;
      if (this.done) {
        this.surplus = text.slice(at);
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
        return;
      default: {
        const size = readSize(text, from, end);
        this.#left = size;
        this.#state = size === 0 ? 'trailers' : 'data';
      }
    }
  }
}

function readSize(text: string, from: number, end: number): number {
  let size = 0;
  let at = from;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    const digit =
      code >= 48 && code <= 57
        ? code - 48
        : code >= 97 && code <= 102
          ? code - 87
          : code >= 65 && code <= 70
            ? code - 55
            : -1;
    if (digit < 0) break;
    size = size * 16 + digit;
  }
  const next = text.charCodeAt(at);
  // Extensions begin with a semicolon, perhaps after white space; they mean nothing to us.
  const legal = at > from && at - from <= 8 && (at === end || next === 59 || next === 32 || next === 9);
  if (!legal) throw new RangeError('malformed chunk size');
  return size;
}
