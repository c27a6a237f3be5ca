// Elements of one array in a JSON object, as its bytes arrive: of a body that is larger than memory should hold. Judges no grammar
// within elements: whoever parses them does.
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './text.ts';

/** Why a body holds no such array, as the rest of a sentence that begins with `the body`. */
export class ArrayFault extends Error {}

/** Longest name of a member that is compared, in bytes. */
const LONGEST_NAME = 256;

/** Reads pieces in their order. */
export class ArrayElements {
  readonly #name: string;
  readonly #most: number;
  /** Containers that are open. */
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  /** The array is open, one level below the object. */
  #isInside = false;
  #wasThere = false;
  /** A name is read, or was read last, in the outermost object. */
  #isName = false;
  #lastName = '';
  #held: Buffer[] = [];
  #size = 0;

  /** @param name member of the outermost object that is the array @param most longest element, in bytes */
  constructor(name: string, most: number) {
    this.#name = name;
    this.#most = most;
  }

  /** Elements that end in a piece. They hold until the next piece is read. @throws ArrayFault */
  *read({ buffer, byteOffset, byteLength }: Uint8Array): Generator<Buffer, void, undefined> {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    /** Begin of the part of this piece that is kept; -1: nothing is. */
    let from = this.#size > 0 || this.#isName ? 0 : -1;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#isString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) {
          this.#isString = false;
          if (this.#depth === 1 && this.#isName) {
            this.#lastName = this.#take(bytes, from, at).toString().slice(1);
            this.#isName = false;
            from = -1;
          }
        }
        continue;
      }
      if (isSpace(byte)) continue;
      if (this.#depth === 0 && (byte !== OPEN_BRACE || this.#wasThere))
        throw new ArrayFault('must be one JSON object');
      const isElement = this.#isInside && this.#depth === 2;
      if (isElement && (byte === COMMA || byte === CLOSE_BRACKET)) {
        if (from >= 0) yield this.#take(bytes, from, at);
        from = -1;
        if (byte === COMMA) continue;
      } else if (isElement && from < 0) from = at;
      if (byte === QUOTE) {
        this.#isString = true;
        if (this.#depth === 1 && this.#lastName === '') {
          this.#isName = true;
          from = at;
        }
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#depth === 1 && byte === OPEN_BRACKET && this.#lastName === this.#name) {
          if (this.#wasThere) throw new ArrayFault(`has the member ${this.#name} twice`);
          this.#isInside = true;
          this.#wasThere = true;
        }
        this.#depth += 1;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth -= 1;
        if (this.#depth === 1) this.#isInside = false;
      } else if (this.#depth === 1 && byte === COMMA) this.#lastName = '';
      else if (this.#depth === 1 && byte === COLON) continue;
    }
    if (from < 0) return;
    const rest = bytes.subarray(from);
    this.#size += rest.length;
    this.#requireSize();
    this.#held.push(Buffer.from(rest));
  }

  /** @throws ArrayFault */
  end(): void {
    if (this.#depth !== 0 || this.#isString) throw new ArrayFault('ends too early');
    if (!this.#wasThere) throw new ArrayFault(`has no array ${this.#name}`);
  }

  #take(bytes: Buffer, from: number, to: number): Buffer {
    const last = bytes.subarray(from, to);
    this.#size += last.length;
    this.#requireSize();
    const taken = this.#held.length === 0 ? last : Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#size = 0;
    return taken;
  }

  #requireSize(): void {
    const most = this.#isName ? LONGEST_NAME : this.#most;
    if (this.#size > most) throw new ArrayFault(`has a part of more than ${most} bytes`);
  }
}
