// Reads what CompactWriter wrote, value by value. Bytes that are none of its are an error, never a wrong value.
import type { JsonValue, MutableJsonObject } from '../../canonical/index.ts';
import { FIRST_NAME, FIRST_TAG, MICRO, PICO, Tag } from './tags.ts';

export class CompactReader {
  readonly #bytes: Buffer;
  /** The text of a name. */
  readonly #textOf: (number: number) => string;
  #at = 0;

  /** @param textOf gives the text of a name; throws for a number that is none */
  constructor(bytes: Uint8Array, textOf: (number: number) => string) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#textOf = textOf;
  }

  /** What was not read yet. */
  rest(): Uint8Array {
    return new Uint8Array(
      this.#bytes.buffer,
      this.#bytes.byteOffset + this.#at,
      this.#bytes.length - this.#at,
    );
  }

  /**
   * Passes over everything up to a place.
   * @param at bytes from the beginning
   * @throws RangeError where more was read already
   */
  passTo(at: number): void {
    if (at < this.#at) throw new RangeError('a value goes on behind its end');
    this.#pass(at - this.#at);
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

  /** The next value where it may be a name: its number rather than its text. */
  name(): number | string | null {
    const tag = this.#byte();
    if (tag >= FIRST_NAME) return tag - FIRST_NAME;
    if (tag === Tag.name) return this.#count();
    const value = this.#valueOf(tag);
    return value === null ? null : String(value);
  }

  /** Whether the next value is `true`, which is passed over then: it stands for what is usual. */
  usual(): boolean {
    if (this.#bytes[this.#at] !== Tag.true) return false;
    this.#at += 1;
    return true;
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
        case Tag.repeated:
          this.#count();
          break;
        default:
          throw new RangeError(`no value begins with ${tag}`);
      }
    }
  }

  #valueOf(tag: number): JsonValue {
    if (tag < FIRST_TAG) return tag;
    if (tag >= FIRST_NAME) return this.#textOf(tag - FIRST_NAME);
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
        return this.#textOf(this.#count());
      case Tag.text:
        return this.#take(this.#count()).toString('utf8');
      case Tag.hex:
        return this.#take(16).toString('hex');
      case Tag.json:
        return JSON.parse(this.#take(this.#count()).toString('utf8')) as JsonValue;
      case Tag.repeated:
        return JSON.parse(this.#textOf(this.#count())) as JsonValue;
      case Tag.array:
        return this.#array();
      case Tag.object:
        return this.#object();
      default:
        throw new RangeError(`no value begins with ${tag}`);
    }
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
