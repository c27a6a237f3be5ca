// Elements of one array in a JSON object, as its bytes arrive: of a body that is larger than memory should hold. Judges no grammar
// within elements: whoever parses them does.
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

/** Why a body holds no such array, as the rest of a sentence that begins with `the body`. */
export class ArrayFault extends Error {}

/** Longest name of a member that is compared, in bytes. */
const LONGEST_NAME = 256;

export interface ArrayPlace {
  /** Names of members from the outermost object to the array, at least one. */
  readonly path: readonly string[];
  /** Longest element, and longest body without its elements, in bytes. */
  readonly most: number;
  /** The name of a member as `path` has it. Default: names have one spelling. */
  readonly spelled?: (name: string) => string;
}

/** Reads pieces in their order. */
export class ArrayElements {
  readonly #path: readonly string[];
  readonly #most: number;
  readonly #spelled: (name: string) => string;
  #hasBegun = false;
  /** Containers that are open. */
  #depth = 0;
  /** How many of them are objects on the way to the array. */
  #onPath = 0;
  #isString = false;
  #isEscaped = false;
  /** The array is open, and what comes is in it. */
  #isInside = false;
  /** Members of the path whose values have begun: none may come twice. */
  #begun = 0;
  /** A name of a member may come, in the innermost object on the way. */
  #wantsName = false;
  #isName = false;
  #lastName = '';
  #held: Buffer[] = [];
  #size = 0;
  /** The body without the elements. */
  #rest: Buffer[] = [];
  #restSize = 0;

  constructor({ path, most, spelled = (name) => name }: ArrayPlace) {
    this.#path = path;
    this.#most = most;
    this.#spelled = spelled;
  }

  /** Whether the array has begun. */
  get wasThere(): boolean {
    return this.#begun === this.#path.length;
  }

  /** Elements that end in a piece. They hold until the next piece is read. @throws ArrayFault */
  *read({ buffer, byteOffset, byteLength }: Uint8Array): Generator<Buffer, void, undefined> {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    /** Begin of the name or element in this piece; -1: there is none. */
    let from = this.#size > 0 || this.#isName ? 0 : -1;
    /** Begin of what is no element. */
    let rest = this.#isInside ? -1 : 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#isString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) {
          this.#isString = false;
          if (this.#isName) {
            this.#lastName = this.#spelled(this.#take(bytes, from, at).toString().slice(1));
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
        if (isOnPath && this.#wantsName) {
          this.#isName = true;
          this.#wantsName = false;
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
        this.#wantsName = true;
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
    if (this.#depth !== 0 || this.#isString) throw new ArrayFault('ends too early');
    return Buffer.concat(this.#rest).toString();
  }

  /** Enters a container in the innermost object on the way, where it is on the way, too. */
  #open(byte: number): void {
    const at = this.#onPath;
    if (at > 0 && this.#lastName !== this.#path[at - 1]) return;
    const isLast = at === this.#path.length;
    // Another value than an object, or than an array at the end, is nothing to enter.
    if (byte !== (isLast ? OPEN_BRACKET : OPEN_BRACE)) return;
    if (at > 0) {
      if (this.#begun >= at)
        throw new ArrayFault(`has the member ${this.#path.slice(0, at).join('.')} twice`);
      this.#begun = at;
    }
    if (isLast) this.#isInside = true;
    else {
      this.#onPath += 1;
      this.#wantsName = true;
      this.#lastName = '';
    }
  }

  #keep(bytes: Buffer): void {
    this.#restSize += bytes.length;
    if (this.#restSize > this.#most) throw tooLong(this.#most);
    // The piece may be written over.
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
