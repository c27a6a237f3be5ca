// Writes values one after another in few bytes: small numbers in one, texts that repeat as the number of a name. Made
// for the records of the ledger, of which every request writes one: nothing is built on the way, and the bytes are
// reused by the next record.
import type { JsonValue } from '../../canonical/index.ts';
import { FIRST_NAME, FIRST_TAG, MAX_DEPTH, MICRO, PICO, SHORT_NAMES, Tag } from './tags.ts';

/** Numbers for texts that repeat. */
export interface NameNumbers {
  /** The number of a text; undefined while it has none: asking often enough may give it one. */
  numberOf(text: string): number | undefined;
}

const USUAL_BYTES = 4096;
/** What a large record needed is let go of by the next. */
const KEPT_BYTES = 65_536;
/** Longest text that is looked for among the names, in characters. */
const LONGEST_NAME = 200;
/** Longest JSON that is looked for among the names, in characters. */
const LONGEST_REPEATED = 1_000;
/** Names that one record may ask for in vain: an upstream may send a hundred thousand members of its own invention. */
const MOST_UNKNOWN = 100;

export class CompactWriter {
  readonly #names: NameNumbers;
  #bytes = Buffer.allocUnsafe(USUAL_BYTES);
  /** Texts of what was written as repeated. */
  readonly #repeated = new WeakMap<object, string>();
  #at = 0;
  #unknown = 0;

  constructor(names: NameNumbers) {
    this.#names = names;
  }

  /** Begins anew; what `written` gave is not valid any more. */
  reset(): void {
    this.#at = 0;
    this.#unknown = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(USUAL_BYTES);
  }

  /** What was written since `reset`; valid until the next. */
  written(): Uint8Array {
    // Not `subarray`, which for a Buffer takes several times as long.
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
    else if ((value | 0) === value || Number.isSafeInteger(value)) this.#integer(value);
    else if (!Number.isFinite(value)) this.#byte(Tag.null);
    else if (!this.#scaled(value, Tag.micro, MICRO)) this.#double(value);
  }

  /** An amount of money in USD. */
  usd(value: number | null): void {
    if (value === null) this.#byte(Tag.null);
    else if (!this.#scaled(value, Tag.pico, PICO)) this.number(value);
  }

  /** A text that is expected in other records, too. */
  name(value: string | null): void {
    if (value === null) return this.#byte(Tag.null);
    if (value.length > LONGEST_NAME || this.#unknown >= MOST_UNKNOWN) return this.text(value);
    const number = this.#names.numberOf(value);
    if (number === undefined) {
      this.#unknown += 1;
      return this.text(value);
    }
    if (number < SHORT_NAMES) return this.#byte(FIRST_NAME + number);
    this.#byte(Tag.name);
    this.#count(number);
  }

  /** A text that no other record has. */
  text(value: string | null): void {
    if (value === null) return this.#byte(Tag.null);
    const length = Buffer.byteLength(value);
    // Half of a character has no UTF-8; JSON has an escape for it.
    if (length !== value.length && !value.isWellFormed()) return this.#texts(Tag.json, JSON.stringify(value));
    this.#texts(Tag.text, value, length);
  }

  /**
   * JSON that other records hold as it is.
   * @param value compared by identity first: a frozen one is turned into text only once
   */
  repeated(value: JsonValue): void {
    if (typeof value !== 'object' || value === null) return this.json(value);
    let text = this.#repeated.get(value);
    if (text === undefined) this.#repeated.set(value, (text = JSON.stringify(value)));
    const number = text.length <= LONGEST_REPEATED ? this.#names.numberOf(text) : undefined;
    if (number === undefined) return this.json(value);
    this.#byte(Tag.repeated);
    this.#count(number);
  }

  /** An id: of the gateway's own only the 16 bytes. */
  id(value: string): void {
    if (value.length !== 32) return this.text(value);
    this.#room(17);
    const start = this.#at;
    this.#bytes[this.#at++] = Tag.hex;
    for (let at = 0; at < 32; at += 2) {
      const high = hexDigit(value.charCodeAt(at));
      const low = hexDigit(value.charCodeAt(at + 1));
      if (high < 0 || low < 0) {
        this.#at = start;
        return this.text(value);
      }
      this.#bytes[this.#at++] = high * 16 + low;
    }
  }

  /**
   * Any JSON; members that are undefined are left out, as `JSON.stringify` does it.
   * @param names whether its texts are expected in other records; keys always are
   */
  json(value: JsonValue | undefined, names = true, depth = 0): void {
    if (value === null || value === undefined) return this.#byte(Tag.null);
    if (typeof value === 'number') return this.number(value);
    if (typeof value === 'boolean') return this.flag(value);
    if (typeof value === 'string') return names ? this.name(value) : this.text(value);
    if (depth >= MAX_DEPTH) return this.#texts(Tag.json, JSON.stringify(value));
    if (Array.isArray(value)) {
      this.#byte(Tag.array);
      for (const item of value) this.json(item, names, depth + 1);
    } else {
      this.#byte(Tag.object);
      for (const key of Object.keys(value)) {
        const member = (value as { readonly [key: string]: JsonValue | undefined })[key];
        if (member === undefined) continue;
        this.name(key);
        this.json(member, names, depth + 1);
      }
    }
    this.#byte(Tag.end);
  }

  #texts(tag: number, text: string, length = Buffer.byteLength(text)): void {
    this.#room(length + 10);
    this.#bytes[this.#at++] = tag;
    this.#count(length);
    this.#at += this.#bytes.write(text, this.#at, 'utf8');
  }

  #integer(value: number): void {
    if (value >= 0 && value < FIRST_TAG) return this.#byte(value);
    this.#byte(value < 0 ? Tag.negative : Tag.integer);
    this.#count(Math.abs(value));
  }

  #double(value: number): void {
    this.#room(9);
    this.#bytes[this.#at++] = Tag.double;
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** False when the number is not a whole number of these units. */
  #scaled(value: number, tag: number, units: number): boolean {
    const count = Math.round(value * units);
    if (count / units !== value || !(count > 0 && count <= Number.MAX_SAFE_INTEGER)) return false;
    this.#byte(tag);
    this.#count(count);
    return true;
  }

  #count(value: number): void {
    this.#room(8);
    const bytes = this.#bytes;
    let at = this.#at;
    let rest = value;
    // Beyond 32 bits there is no shifting: the lowest 28 first.
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

  #byte(value: number): void {
    if (this.#at === this.#bytes.length) this.#room(1);
    this.#bytes[this.#at++] = value;
  }

  #room(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.written());
    this.#bytes = larger;
  }
}

/** -1 for anything but a lower-case digit. */
function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 97 && code <= 102 ? code - 87 : -1;
}
