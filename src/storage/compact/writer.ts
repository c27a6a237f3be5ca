// Writes values in a compact binary format: small numbers take one byte, and repeated texts are stored as an index. The
// format needs only the dictionary of this program to be read. The buffer is reused for each record.
import type { JsonValue } from '../../base/json/index.ts';
import { WORD_NUMBERS } from './dictionary.ts';
import { FIRST_NAME, FIRST_TAG, MAX_DEPTH, MICRO, MOST_FRESH, PICO, SHORT_NAMES, Tag } from './tags.ts';

const USUAL_BYTES = 4096;
/** A larger buffer is released at the next record. */
const KEPT_BYTES = 65_536;
/** Free bytes that are guaranteed before each value. Only texts need more. */
const ROOM_BYTES = 24;
/** Longest text that is looked up in the dictionary, in characters. */
const LONGEST_NAME = 200;
/** Shortest name that is remembered, because a reference takes two bytes. */
const SHORTEST_FRESH = 3;

/** Values of lower-case hex digits by character code; -1 for all others. */
const HEX_DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code)),
);

export class CompactWriter {
  #bytes = Buffer.allocUnsafe(USUAL_BYTES);
  /** Offset of the next value, and the last offset with enough free bytes. */
  #at = 0;
  #full = USUAL_BYTES - ROOM_BYTES;
  /** Names of this record that are not in the dictionary. */
  readonly #fresh: string[] = [];

  /** Starts a new record. Invalidates the result of `written`. */
  reset(): void {
    this.#at = 0;
    this.#fresh.length = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#take(Buffer.allocUnsafe(USUAL_BYTES));
  }

  /** Bytes written since `reset`. Valid until the next `reset`. */
  written(): Uint8Array {
    // `Buffer.subarray` is several times slower.
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset, this.#at);
  }

  null(): void {
    this.#byte(Tag.null);
  }

  flag(value: boolean): void {
    this.#byte(value ? Tag.true : Tag.false);
  }

  /** Writes a number; NaN and infinity become null, as in JSON. */
  number(value: number | null): void {
    if (value === null) this.#byte(Tag.null);
    else if ((value | 0) === value && value >= 0 && value < FIRST_TAG) this.#byte(value);
    else if (Number.isSafeInteger(value))
      this.#counted(value < 0 ? Tag.negative : Tag.integer, Math.abs(value));
    else if (!Number.isFinite(value)) this.#byte(Tag.null);
    else if (!this.#scaled(value, Tag.micro, MICRO)) this.#double(value);
  }

  /** Writes an amount in USD. */
  usd(value: number | null): void {
    if (value === null) this.#byte(Tag.null);
    else if (!this.#scaled(value, Tag.pico, PICO)) this.number(value);
  }

  /** Writes a text that is repeated within or between records. */
  name(value: string | null): void {
    if (value === null) return this.null();
    if (value.length > LONGEST_NAME) return this.text(value);
    const word = WORD_NUMBERS.get(value);
    if (word !== undefined) {
      if (word < SHORT_NAMES) this.#byte(FIRST_NAME + word);
      else this.#counted(Tag.name, word);
      return;
    }
    const fresh = this.#fresh;
    const known = fresh.indexOf(value);
    if (known >= 0) return this.#counted(Tag.again, known);
    const length = Buffer.byteLength(value);
    const isShort = value.length < SHORTEST_FRESH || fresh.length >= MOST_FRESH;
    if (isShort || (length !== value.length && !value.isWellFormed())) return this.text(value);
    fresh.push(value);
    this.#text(Tag.fresh, value, length);
  }

  /**
   * Begins members of a table, without any marks.
   * @returns offset of the marks, for `mark`
   */
  members(count: number): number {
    const bytes = (count + 7) >> 3;
    if (this.#at + bytes > this.#full) this.#grow(bytes);
    this.#counted(Tag.members, count);
    const at = this.#at;
    this.#bytes.fill(0, at, at + bytes);
    this.#at = at + bytes;
    return at;
  }

  /** Marks a member whose value follows. @param marks result of `members` @param index index of the member */
  mark(marks: number, index: number): void {
    const at = marks + (index >> 3);
    this.#bytes[at] = (this.#bytes[at] ?? 0) | (1 << (index & 7));
  }

  /** Writes a text that is unique to this record. */
  text(value: string | null): void {
    if (value === null) return this.null();
    const length = Buffer.byteLength(value);
    // Unpaired surrogates have no UTF-8, but a JSON escape.
    if (length !== value.length && !value.isWellFormed()) return this.#jsonText(value);
    this.#text(Tag.text, value, length);
  }

  /** Writes an id. The gateway's own ids take 16 bytes. */
  id(value: string): void {
    if (value.length !== 32) return this.text(value);
    if (this.#at > this.#full) this.#grow(0);
    const bytes = this.#bytes;
    const start = this.#at + 1;
    for (let at = 0; at < 32; at += 2) {
      const high = HEX_DIGITS[value.charCodeAt(at)] ?? -1;
      const low = HEX_DIGITS[value.charCodeAt(at + 1)] ?? -1;
      if (high < 0 || low < 0) return this.text(value);
      bytes[start + at / 2] = high * 16 + low;
    }
    bytes[this.#at] = Tag.hex;
    this.#at += 17;
  }

  /**
   * Writes any JSON value. Undefined members are left out, as in `JSON.stringify`.
   * @param names true: its texts are expected to repeat in other records. Keys always are
   */
  json(value: JsonValue | undefined, names = true, depth = 0): void {
    if (value === null || value === undefined) return this.null();
    if (typeof value === 'number') return this.number(value);
    if (typeof value === 'boolean') return this.flag(value);
    if (typeof value === 'string') return names ? this.name(value) : this.text(value);
    if (depth >= MAX_DEPTH) return this.#jsonText(value);
    if (Array.isArray(value)) {
      this.array();
      for (const item of value)
        if (typeof item === 'number' || item === null) this.number(item);
        else this.json(item, names, depth + 1);
    } else {
      this.#byte(Tag.object);
      for (const key of Object.keys(value)) {
        const member = (value as { readonly [key: string]: JsonValue | undefined })[key];
        if (member === undefined) continue;
        this.name(key);
        if (typeof member === 'number') this.number(member);
        else this.json(member, names, depth + 1);
      }
    }
    this.end();
  }

  /** Begins a list. Its values follow, then `end`. */
  array(): void {
    this.#byte(Tag.array);
  }

  end(): void {
    this.#byte(Tag.end);
  }

  #jsonText(value: JsonValue): void {
    const text = JSON.stringify(value);
    this.#text(Tag.json, text, Buffer.byteLength(text));
  }

  /** @param length length of the text in bytes */
  #text(tag: number, text: string, length: number): void {
    if (this.#at + length > this.#full) this.#grow(length);
    this.#counted(tag, length);
    this.#at += this.#bytes.write(text, this.#at, 'utf8');
  }

  #double(value: number): void {
    if (this.#at > this.#full) this.#grow(0);
    this.#bytes[this.#at++] = Tag.double;
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** Writes a number in units. @returns false if it is not an integer number of them */
  #scaled(value: number, tag: number, units: number): boolean {
    const count = Math.round(value * units);
    if (count / units !== value || !(count > 0 && count <= Number.MAX_SAFE_INTEGER)) return false;
    this.#counted(tag, count);
    return true;
  }

  #byte(value: number): void {
    if (this.#at > this.#full) this.#grow(0);
    this.#bytes[this.#at++] = value;
  }

  /** Writes a tag and a number. */
  #counted(tag: number, value: number): void {
    if (this.#at > this.#full) this.#grow(0);
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = tag;
    let rest = value;
    // Writes the lowest 28 bits first, because bit operations are limited to 32 bits.
    if (rest > 0x7fff_ffff) {
      const high = Math.floor(rest / 0x1000_0000);
      const low = rest - high * 0x1000_0000;
      bytes[at] = (low & 127) | 128;
      bytes[at + 1] = ((low >>> 7) & 127) | 128;
      bytes[at + 2] = ((low >>> 14) & 127) | 128;
      bytes[at + 3] = (low >>> 21) | 128;
      at += 4;
      rest = high;
    }
    while (rest > 127) {
      bytes[at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    this.#at = at;
  }

  /** Grows the buffer for the next value and `bytes` more. */
  #grow(bytes: number): void {
    const larger = Buffer.allocUnsafe(Math.max(this.#at + bytes + ROOM_BYTES, 2 * this.#bytes.length));
    larger.set(this.written());
    this.#take(larger);
  }

  #take(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#full = bytes.length - ROOM_BYTES;
  }
}
