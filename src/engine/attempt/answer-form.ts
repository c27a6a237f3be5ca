// Form of an answer: an event stream or a whole document. Servers and proxies declare wrong content types, so the first
// bytes decide where they are unmistakable.
import type { AnswerReader } from './answer-reader.ts';

const FIELDS = ['data:', 'event:', 'id:', 'retry:', ':'] as const;
/** Characters of the longest field. */
const LONGEST = 6;
/** White space may precede an answer to keep its connection open. After this much, the content type decides. */
const MOST_HELD_BYTES = 65_536;
/** Tab, line feed, carriage return, space, and the byte order mark. */
const SKIPPED: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf]);

/**
 * Reader that waits for the first bytes of an answer.
 * @param declared true: the content type declares a stream
 * @param open returns the reader for a stream or a whole document
 */
export function formReader(declared: boolean, open: (streamed: boolean) => AnswerReader): AnswerReader {
  return new FormReader(declared, open);
}

class FormReader implements AnswerReader {
  readonly #declared: boolean;
  readonly #open: (streamed: boolean) => AnswerReader;
  readonly #held: Buffer[] = [];
  #heldBytes = 0;
  /** First characters after white space. */
  #start = '';
  #reader: AnswerReader | undefined;

  constructor(declared: boolean, open: (streamed: boolean) => AnswerReader) {
    this.#declared = declared;
    this.#open = open;
  }

  data(bytes: Buffer): void {
    if (this.#reader) return this.#reader.data(bytes);
    this.#start = startOf(this.#start, bytes);
    const isExcess = (this.#heldBytes += bytes.length) > MOST_HELD_BYTES;
    const streamed = this.#recognised() ?? (isExcess ? this.#declared : undefined);
    if (streamed === undefined) this.#held.push(bytes);
    else this.#release(streamed).data(bytes);
  }

  end(): void {
    (this.#reader ?? this.#release(this.#declared)).end();
  }

  interrupt(): void {
    this.#reader?.interrupt?.();
  }

  /** True: a stream. Undefined: more bytes are needed. */
  #recognised(): boolean | undefined {
    const start = this.#start;
    if (start === '') return undefined;
    if (start.startsWith('{')) return false;
    if (FIELDS.some((field) => start.startsWith(field))) return true;
    return FIELDS.some((field) => field.startsWith(start)) ? undefined : this.#declared;
  }

  /** Opens the reader and passes on what was held. */
  #release(streamed: boolean): AnswerReader {
    const reader = this.#open(streamed);
    this.#reader = reader;
    for (const bytes of this.#held.splice(0)) reader.data(bytes);
    return reader;
  }
}

/** The first characters after white space, continued by these bytes. */
function startOf(start: string, bytes: Buffer): string {
  let from = 0;
  if (start === '') while (from < bytes.length && SKIPPED.has(bytes[from] ?? 0)) from += 1;
  return start + bytes.toString('latin1', from, from + LONGEST - start.length);
}
