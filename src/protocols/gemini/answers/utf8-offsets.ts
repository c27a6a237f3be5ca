// Converts offsets in a text between UTF-8 bytes, which Google counts, and UTF-16 units. Reads the text once; each
// conversion then has a constant cost.

/** Distance between marks, in UTF-16 units. */
const STRIDE = 64;

export class Utf8Offsets {
  readonly #text: string;
  /** Bytes before each mark. Built on first use, because most answers have no citations. */
  #marks: Float64Array | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Converts an offset in bytes to UTF-16 units. It is rounded up to a whole character, and at most the text's length. */
  charAt(bytes: number): number {
    if (!(bytes > 0)) return 0;
    const marks = (this.#marks ??= marksOf(this.#text));
    let low = 0;
    let high = marks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((marks[middle] ?? 0) <= bytes) low = middle;
      else high = middle - 1;
    }
    let at = low * STRIDE;
    let left = bytes - (marks[low] ?? 0);
    while (left > 0 && at < this.#text.length) left -= bytesAt(this.#text, at++);
    return isLow(this.#text, at) ? at + 1 : at;
  }

  /** Converts an offset in UTF-16 units to bytes. */
  byteAt(at: number): number {
    const marks = (this.#marks ??= marksOf(this.#text));
    const end = Math.max(0, Math.min(at, this.#text.length));
    const mark = Math.floor(end / STRIDE);
    let bytes = marks[mark] ?? 0;
    for (let index = mark * STRIDE; index < end; index++) bytes += bytesAt(this.#text, index);
    return bytes;
  }
}

function marksOf(text: string): Float64Array {
  const marks = new Float64Array(Math.floor(text.length / STRIDE) + 1);
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    if (at % STRIDE === 0) marks[at / STRIDE] = bytes;
    bytes += bytesAt(text, at);
  }
  if (text.length % STRIDE === 0) marks[text.length / STRIDE] = bytes;
  return marks;
}

/** Returns the bytes of the UTF-16 unit at this offset. All four bytes of a surrogate pair count for its first half. */
function bytesAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  if (isLow(text, at)) return 0;
  return isHigh(unit) && isLow(text, at + 1) ? 4 : 3;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** True for the second half of a surrogate pair. */
function isLow(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit < 0xe000 && at > 0 && isHigh(text.charCodeAt(at - 1));
}
