// Reads what CompactWriter wrote, value by value. Bytes that are none of its are an error, never a wrong value.
import type { JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import { WORDS } from './dictionary.ts';
import { FIRST_NAME, FIRST_TAG, MICRO, PICO, Tag } from './tags.ts';

export class CompactReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** Places of the fresh names that were passed: where each begins, then its length. */
  readonly #fresh: number[] = [];

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Bytes that were not read yet. */
  rest(): Uint8Array {
    return new Uint8Array(
      this.#bytes.buffer,
      this.#bytes.byteOffset + this.#at,
      this.#bytes.length - this.#at,
    );
  }

  /** True when everything was read. */
  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** The next value. @throws RangeError where there is none */
  value(): JsonValue {
    return this.#valueOf(this.#byte());
  }

  /** The next value, an id, as the database keeps it: the 16 bytes of the gateway's own, the text of another. */
  id(): Uint8Array | string {
    if (this.#bytes[this.#at] !== Tag.hex) return String(this.value());
    this.#at += 1;
    return this.#take(16);
  }

  /** Begins the members of a table. @returns how many it had, and the marks of those whose values follow */
  members(): { readonly count: number; readonly marks: Uint8Array } {
    if (this.#byte() !== Tag.members) throw new RangeError('the bytes are none of a record');
    const count = this.#count();
    return { count, marks: this.#take((count + 7) >> 3) };
  }

  /** Goes into a list. @returns false for null, which is passed. @throws RangeError for anything else */
  enter(): boolean {
    const tag = this.#byte();
    if (tag === Tag.null) return false;
    if (tag !== Tag.array) throw new RangeError('the bytes are none of a list');
    return true;
  }

  /** Goes out of a list whose values were read. @throws RangeError where more follow */
  leave(): void {
    if (this.#byte() !== Tag.end) throw new RangeError('a list goes on behind its end');
  }

  /** Passes values over, one or several, without making anything of them. @throws RangeError where there are not as many */
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
          throw new RangeError(`no value begins with ${tag}`);
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
        throw new RangeError(`no value begins with ${tag}`);
    }
  }

  /** Passes over a name, and remembers it. @returns where it begins */
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
    if (start === undefined || length === undefined) throw new RangeError(`no name has the number ${number}`);
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
      // Assigned, this one would be the object's prototype.
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
    if (byte === undefined) throw new RangeError('the bytes end within a value');
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
    if (end > this.#bytes.length) throw new RangeError('the bytes end within a value');
    this.#at = end;
  }
}

function wordOf(number: number): string {
  const word = WORDS[number];
  if (word === undefined) throw new RangeError(`no word has the number ${number}`);
  return word;
}
