// Reads values written by `CompactWriter`. Invalid bytes are an error, never a wrong value.
import type { JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import { WORDS } from './dictionary.ts';
import { FIRST_NAME, FIRST_TAG, MICRO, PICO, Tag } from './tags.ts';

export class CompactReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** Offset and length of each new name read so far. */
  readonly #fresh: number[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Unread bytes. */
  rest(): Uint8Array {
    return new Uint8Array(
      this.#bytes.buffer,
      this.#bytes.byteOffset + this.#at,
      this.#bytes.length - this.#at,
    );
  }

  /** Reads the next value. @throws RangeError if there is none */
  value(): JsonValue {
    return this.#valueOf(this.#byte());
  }

  /** Reads an id in the database's form: 16 bytes for the gateway's own ids, text for others. */
  id(): Uint8Array | string {
    if (this.#bytes[this.#at] !== Tag.hex) return String(this.value());
    this.#at += 1;
    return this.#take(16);
  }

  /** Begins to read members. @returns the number of members in the table, and the marks of those whose values follow */
  members(): { readonly count: number; readonly marks: Uint8Array } {
    if (this.#byte() !== Tag.members) throw new RangeError('not a compact record');
    const count = this.#count();
    return { count, marks: this.#take((count + 7) >> 3) };
  }

  /** Enters a list. @returns false for null, which is skipped @throws RangeError for anything else */
  enter(): boolean {
    const tag = this.#byte();
    if (tag === Tag.null) return false;
    if (tag !== Tag.array) throw new RangeError('not a compact list');
    return true;
  }

  /** Leaves a list whose values were all read. @throws RangeError if more follow */
  leave(): void {
    if (this.#byte() !== Tag.end) throw new RangeError('data after the end of the list');
  }

  /** Skips values without decoding them. @throws RangeError if there are too few */
  skip(values = 1): void {
    for (let depth = 0, left = values; left > 0; left -= depth > 0 ? 0 : 1) {
      const tag = this.#byte();
      if (tag < FIRST_TAG || tag >= FIRST_NAME) continue;
      switch (tag) {
        case Tag.null:
        case Tag.false:
        case Tag.true:
          break;
        case Tag.double:
          this.#pass(8);
          break;
        case Tag.hex:
          this.#pass(16);
          break;
        case Tag.text:
        case Tag.json:
          this.#pass(this.#count());
          break;
        case Tag.array:
        case Tag.object:
          depth += 1;
          break;
        case Tag.end:
          depth -= 1;
          break;
        case Tag.integer:
        case Tag.negative:
        case Tag.micro:
        case Tag.pico:
        case Tag.name:
        case Tag.again:
          this.#count();
          break;
        case Tag.fresh:
          this.#passFresh();
          break;
        default:
          throw new RangeError(`unknown tag ${tag}`);
      }
    }
  }

  #valueOf(tag: number): JsonValue {
    if (tag < FIRST_TAG) return tag;
    if (tag >= FIRST_NAME) return wordOf(tag - FIRST_NAME);
    switch (tag) {
      case Tag.null:
        return null;
      case Tag.false:
        return false;
      case Tag.true:
        return true;
      case Tag.double:
        return this.#take(8).readDoubleLE(0);
      case Tag.integer:
        return this.#count();
      case Tag.negative:
        return -this.#count();
      case Tag.micro:
        return this.#count() / MICRO;
      case Tag.pico:
        return this.#count() / PICO;
      case Tag.name:
        return wordOf(this.#count());
      case Tag.text:
        return this.#take(this.#count()).toString('utf8');
      case Tag.hex:
        return this.#take(16).toString('hex');
      case Tag.json:
        return JSON.parse(this.#take(this.#count()).toString('utf8')) as JsonValue;
      case Tag.fresh: {
        const start = this.#passFresh();
        return this.#bytes.toString('utf8', start, this.#at);
      }
      case Tag.again:
        return this.#freshOf(this.#count());
      case Tag.array:
        return this.#array();
      case Tag.object:
        return this.#object();
      default:
        throw new RangeError(`unknown tag ${tag}`);
    }
  }

  /** Skips a new name and remembers it. @returns its offset */
  #passFresh(): number {
    const length = this.#count();
    const start = this.#at;
    this.#pass(length);
    this.#fresh.push(start, length);
    return start;
  }

  #freshOf(number: number): string {
    const start = this.#fresh[2 * number];
    const length = this.#fresh[2 * number + 1];
    if (start === undefined || length === undefined) throw new RangeError(`unknown name ${number}`);
    return this.#bytes.toString('utf8', start, start + length);
  }

  #array(): JsonValue {
    const items: JsonValue[] = [];
    for (let tag = this.#byte(); tag !== Tag.end; tag = this.#byte()) items.push(this.#valueOf(tag));
    return items;
  }

  #object(): JsonValue {
    const object: MutableJsonObject = {};
    for (let tag = this.#byte(); tag !== Tag.end; tag = this.#byte()) {
      const key = String(this.#valueOf(tag));
      const value = this.value();
      // Plain assignment would set the object's prototype.
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      else object[key] = value;
    }
    return object;
  }

  #count(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 56; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    throw new RangeError('a number is too long');
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new RangeError('data ends within a value');
    this.#at += 1;
    return byte;
  }

  #take(length: number): Buffer {
    const start = this.#at;
    this.#pass(length);
    return this.#bytes.subarray(start, this.#at);
  }

  #pass(length: number): void {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('data ends within a value');
    this.#at = end;
  }
}

function wordOf(number: number): string {
  const word = WORDS[number];
  if (word === undefined) throw new RangeError(`unknown word ${number}`);
  return word;
}
