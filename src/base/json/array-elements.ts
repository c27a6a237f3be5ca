// Splits one array of a JSON object into its elements while the bytes arrive, for bodies too large to hold in memory.
// Does not validate the elements: their parser does.
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  isSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './text.ts';

/** Reason why the body has no such array. The message continues a sentence that begins with `the body`. */
export class ArrayFault extends Error {}

/** Longest member name that is compared, in bytes. */
const LONGEST_NAME = 256;

export interface ArrayPlace {
  /** Names of members from the outermost object to the array, at least one. */
  readonly path: readonly string[];
  /** Longest element, and longest body without its elements, in bytes. */
  readonly most: number;
  /** Maps another spelling of a member name to that of `path`. Default: names are compared as they are. */
  readonly canonicalName?: (name: string) => string;
}

/** Reads the pieces of one body in order. */
export class ArrayElements {
  readonly #path: readonly string[];
  readonly #most: number;
  readonly #canonicalName: (name: string) => string;
  #hasBegun = false;
  /** Number of open objects and arrays. */
  #depth = 0;
  /** Number of open objects that lie on the path to the array. */
  #onPath = 0;
  #isString = false;
  #isEscaped = false;
  /** True while the array is open. */
  #isInside = false;
  /** Number of path members whose values have begun. A second one with the same name is an error. */
  #begun = 0;
  /** True where the next string is a member name of the innermost object on the path. */
  #expectsName = false;
  #isName = false;
  #lastName = '';
  #held: Buffer[] = [];
  #size = 0;
  /** Pieces of the body without the elements. */
  #rest: Buffer[] = [];
  #restSize = 0;

  constructor({ path, most, canonicalName = (name) => name }: ArrayPlace) {
    this.#path = path;
    this.#most = most;
    this.#canonicalName = canonicalName;
  }

  /** True once the array has begun. */
  get wasThere(): boolean {
    return this.#begun === this.#path.length;
  }

  /** Yields the elements that end in this piece. They are valid until the next piece is read. @throws ArrayFault */
  *read({ buffer, byteOffset, byteLength }: Uint8Array): Generator<Buffer, void, undefined> {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    /** Offset in this piece at which the current name or element begins; -1 outside of both. */
    let from = this.#size > 0 || this.#isName ? 0 : -1;
    /** Offset at which bytes begin that belong to no element; -1 inside the array. */
    let rest = this.#isInside ? -1 : 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#isString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) {
          this.#isString = false;
          if (this.#isName) {
            this.#lastName = this.#canonicalName(this.#take(bytes, from, at).toString().slice(1));
            this.#isName = false;
            from = -1;
          }
        }
        continue;
      }
      if (isSpace(byte)) continue;
      if (this.#depth === 0) {
        if (byte !== OPEN_BRACE || this.#hasBegun) throw new ArrayFault('must be one JSON object');
        this.#hasBegun = true;
      }
      const isElement = this.#isInside && this.#depth === this.#path.length + 1;
      if (isElement && (byte === COMMA || byte === CLOSE_BRACKET)) {
        if (from >= 0) yield this.#take(bytes, from, at);
        from = -1;
        if (byte === COMMA) continue;
        rest = at;
      } else if (isElement && from < 0) from = at;
      const isOnPath = this.#depth === this.#onPath;
      if (byte === QUOTE) {
        this.#isString = true;
        if (isOnPath && this.#expectsName) {
          this.#isName = true;
          this.#expectsName = false;
          from = at;
        }
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.#depth += 1;
        if (isOnPath) this.#open(byte);
        if (this.#isInside && rest >= 0) {
          this.#keep(bytes.subarray(rest, at + 1));
          rest = -1;
        }
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth -= 1;
        if (this.#depth < this.#onPath) this.#onPath = this.#depth;
        if (this.#depth === this.#path.length) this.#isInside = false;
      } else if (byte === COMMA && isOnPath) {
        this.#expectsName = true;
        this.#lastName = '';
      }
    }
    if (rest >= 0) this.#keep(bytes.subarray(rest));
    if (from < 0) return;
    const open = bytes.subarray(from);
    this.#size += open.length;
    this.#requireSize();
    this.#held.push(Buffer.from(open));
  }

  /** @returns the body without the elements, as text @throws ArrayFault */
  end(): string {
    if (this.#depth !== 0 || this.#isString) throw new ArrayFault('ends unexpectedly');
    return Buffer.concat(this.#rest).toString();
  }

  /** Enters an object or array if it lies on the path. */
  #open(byte: number): void {
    const at = this.#onPath;
    if (at > 0 && this.#lastName !== this.#path[at - 1]) return;
    const isLast = at === this.#path.length;
    // Only objects lie on the path, and an array at its end.
    if (byte !== (isLast ? OPEN_BRACKET : OPEN_BRACE)) return;
    if (at > 0) {
      if (this.#begun >= at)
        throw new ArrayFault(`has the duplicate member ${this.#path.slice(0, at).join('.')}`);
      this.#begun = at;
    }
    if (isLast) this.#isInside = true;
    else {
      this.#onPath += 1;
      this.#expectsName = true;
      this.#lastName = '';
    }
  }

  #keep(bytes: Buffer): void {
    this.#restSize += bytes.length;
    if (this.#restSize > this.#most) throw tooLong(this.#most);
    // Copied, because the caller may reuse the piece's memory.
    if (bytes.length > 0) this.#rest.push(Buffer.from(bytes));
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
    if (this.#size > most) throw tooLong(most);
  }
}

function tooLong(bytes: number): ArrayFault {
  return new ArrayFault(`has a part of more than ${bytes} bytes`);
}
