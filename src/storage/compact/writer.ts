// Writes values one after another in few bytes: small numbers in one, texts that repeat as a number. The bytes explain
// themselves: they need the dictionary of this program, and no database. Nothing is built on the way, and the buffer is reused
// by the next record.
import type { JsonValue } from '../../base/json/index.ts';
import { WORD_NUMBERS } from './dictionary.ts';
import { FIRST_NAME, FIRST_TAG, MAX_DEPTH, MICRO, MOST_FRESH, PICO, SHORT_NAMES, Tag } from './tags.ts';

const USUAL_BYTES = 4096;
/** A larger buffer is released by the next record. */
const KEPT_BYTES = 65_536;
/** Bytes that are free before a value is begun: none but texts takes more. */
const ROOM_BYTES = 24;
/** Longest text that is looked for among the words, in characters. */
const LONGEST_NAME = 200;
/** Shortest name that is remembered: a number of it takes two bytes. */
const SHORTEST_FRESH = 3;

/** Values of lower-case hexadecimal digits by their character codes; -1 for anything else. */
const HEX_DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code)),
);

export class CompactWriter {
  #bytes = Buffer.allocUnsafe(USUAL_BYTES);
  /** Place of the next value, and the last place from which on it has room. */
  #at = 0;
  #full = USUAL_BYTES - ROOM_BYTES;
  /** Names of this record that are no words. */
  readonly #fresh: string[] = [];

  /** Begins anew; what `written` gave is not valid any more. */
  reset(): void {
    this.#at = 0;
    this.#fresh.length = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#take(Buffer.allocUnsafe(USUAL_BYTES));
  }

  /** Bytes written since `reset`; valid until the next. */
  written(): Uint8Array {
    // `subarray` of a Buffer takes several times as long.
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset, this.#at);
  }

  null(): void {
    this.#byte(Tag.null);
  }

  flag(value: boolean): void {
    this.#byte(value ? Tag.true : Tag.false);
  }

  /** A number; null for one that is none (NaN, infinite), as in JSON. */
  number(value: number | null): void {
    if (value === null) this.#byte(Tag.null);
    else if ((value | 0) === value && value >= 0 && value < FIRST_TAG) this.#byte(value);
    else if (Number.isSafeInteger(value))
      this.#counted(value < 0 ? Tag.negative : Tag.integer, Math.abs(value));
    else if (!Number.isFinite(value)) this.#byte(Tag.null);
    else if (!this.#scaled(value, Tag.micro, MICRO)) this.#double(value);
  }

  /** An amount of money in USD. */
  usd(value: number | null): void {
    if (value === null) this.#byte(Tag.null);
    else if (!this.#scaled(value, Tag.pico, PICO)) this.number(value);
  }

  /** A text that repeats, within the record or between records. */
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
   * Begins the members of a table: none of them is marked yet.
   * @returns where the marks are, for `mark`
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

  /** Marks a member whose value follows. @param marks where they are; @param index of the member */
  mark(marks: number, index: number): void {
    const at = marks + (index >> 3);
    this.#bytes[at] = (this.#bytes[at] ?? 0) | (1 << (index & 7));
  }

  /** A text that no other record has. */
  text(value: string | null): void {
    if (value === null) return this.null();
    const length = Buffer.byteLength(value);
    // Half of a character has no UTF-8; JSON has an escape for it.
    if (length !== value.length && !value.isWellFormed()) return this.#jsonText(value);
    this.#text(Tag.text, value, length);
  }

  /** An id: of the gateway's own only the 16 bytes. */
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
   * Any JSON; members that are undefined are left out, as `JSON.stringify` does it.
   * @param names whether its texts are expected in other records; keys always are
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

  /** Begins a list: its values follow, and `end`. */
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

  /** @param length of the text, in bytes */
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

  /** False when the number is not a whole number of these units. */
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

  /** A tag and the number behind it. */
  #counted(tag: number, value: number): void {
    if (this.#at > this.#full) this.#grow(0);
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = tag;
    let rest = value;
    // The lowest 28 bits come first: there is no shifting beyond 32.
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

  /** Makes room for the next value, and as many bytes besides. */
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
