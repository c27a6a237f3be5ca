// One answer with several readers: takes what a run writes, keeps it, and gives all of it to each reader at that
// reader's own pace, whenever it came. Knows nothing of keys, lifetimes and what all answers together may weigh.
import type { Body, Client, ClientStream, Encoding } from '../call.ts';
import { toByteString } from '../../base/lib/byte-string.ts';

/** Most that is written at once to a reader who catches up, in bytes: its socket must be able to say "enough". */
const PIECE_BYTES = 65_536;
/** Cost of keeping a chunk besides its bytes; an estimate. */
const CHUNK_BYTES = 64;

/** Account of the memory that is kept. */
export interface SharedAnswerHooks {
  /** Called when the kept bytes have grown, or shrunk, by so many. */
  readonly resized: (bytes: number) => void;
  /** So many readers came, or went (negative). */
  readonly moved: (readers: number) => void;
  /**
   * The last reader left before the end. @returns true: the run goes on, for whoever joins later; else it stops, and nobody may
   * join any more
   */
  readonly abandoned: () => unknown;
}

interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly streamed: boolean;
}

interface Reader {
  readonly client: Client;
  /** True for everybody but the one whose request caused the run. */
  readonly replayed: boolean;
  stream: ClientStream | undefined;
  /** The first chunk that it has not got; chunks are counted from the start of the answer. */
  next: number;
  /** Bytes of that chunk that it does not need. */
  skip: number;
  /** True while its socket has no room. A reader that is behind is always full. */
  full: boolean;
}

/** A place in an answer: a chunk, and how many of its bytes come before. */
export interface Place {
  readonly chunk: number;
  readonly skip: number;
}

const START: Place = { chunk: 0, skip: 0 };

/** The client of a run, for any number of clients. */
export class SharedAnswer implements Client, ClientStream {
  /** Bytes kept, with an allowance for what keeping them costs. */
  bytes = 0;
  /** The same, as far as it was told. */
  #reported = 0;
  readonly #hooks: SharedAnswerHooks;
  readonly #readers = new Set<Reader>();
  /** The one reader, which mostly there is. */
  #only: Reader | undefined;
  #head: Head | undefined;
  /** Byte strings. */
  #chunks: string[] = [];
  /** How many chunks were let go; they came before the first of `#chunks`. */
  #dropped = 0;
  #ended = false;
  /** False: only what a reader still has to read is kept. */
  #keeping = true;
  #paused = false;
  #abandoned = false;
  #left: (() => void) | undefined;
  #drained: (() => void) | undefined;

  constructor(hooks: SharedAnswerHooks) {
    this.#hooks = hooks;
  }

  /**
   * Adds a reader: it gets everything so far, then the rest as it comes. Not after `stopKeeping`.
   * @param replayed true: the reader is told that the answer was not made for it
   * @param from where it begins; absent: at the start
   */
  join(client: Client, replayed: boolean, from: Place = START): void {
    const { chunk: next, skip } = from;
    const reader: Reader = { client, replayed, stream: undefined, next, skip, full: false };
    this.#readers.add(reader);
    this.#only = this.#readers.size === 1 ? reader : undefined;
    this.#hooks.moved(1);
    this.#feed(reader);
    if (this.#readers.has(reader)) client.onLeave(() => this.#leave(reader));
  }

  /** False once later readers cannot have it from the start. */
  get isKept(): boolean {
    return this.#keeping;
  }

  /** True once all of it is there. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** The chunks so far, as long as they are kept. */
  get chunks(): readonly string[] {
    return this.#chunks;
  }

  /** Stops the run where nobody reads. */
  abandon(): void {
    if (this.#readers.size > 0 || this.#ended) return;
    this.#abandoned = true;
    this.#left?.();
  }

  /** Keeps nothing for later readers any more; those who read already are served to the end. */
  stopKeeping(): void {
    this.#keeping = false;
    this.#account();
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void {
    // A stream that has begun cannot become a whole answer: it ends here, visibly incomplete.
    if (this.#head) return this.end();
    this.#head = { status, headers, streamed: false };
    this.#runHasEnded();
    this.#add(Buffer.from(body).toString('latin1'), 'bytes');
  }

  openStream(headers: Readonly<Record<string, string>>): ClientStream {
    this.#head = { status: 200, headers, streamed: true };
    this.#feedAll();
    return this;
  }

  onLeave(left: () => void): void {
    this.#left = left;
    if (this.#abandoned) left();
  }

  /** False only when nothing is kept for later readers and one of the present ones is behind. */
  write(data: string, encoding: Encoding): boolean {
    this.#add(data, encoding);
    this.#paused = this.#mustWait();
    return !this.#paused;
  }

  onDrain(drained: () => void): void {
    this.#drained = drained;
  }

  end(): void {
    this.#runHasEnded();
    this.#feedAll();
    this.#account();
  }

  /** Nobody has to tell the run anything any more: an answer that is kept for hours must not keep its request. */
  #runHasEnded(): void {
    this.#ended = true;
    this.#left = undefined;
    this.#drained = undefined;
  }

  #add(data: string, encoding: Encoding): void {
    const bytes = encoding === 'bytes' ? data : toByteString(data);
    this.#chunks.push(bytes);
    this.bytes += bytes.length + CHUNK_BYTES;
    const reader = this.#only;
    if (reader?.stream && !reader.full && reader.next === this.#dropped + this.#chunks.length - 1) {
      reader.next += 1;
      // As it came: nobody looks a second time whether it is plain text.
      reader.full = !reader.stream.write(data, encoding);
    } else this.#feedAll();
    this.#account();
  }

  #feedAll(): void {
    for (const reader of this.#readers) this.#feed(reader);
  }

  /** Gives a reader what it has not got, as far as its socket takes it. */
  #feed(reader: Reader): void {
    const head = this.#head;
    if (!head) return;
    const headers = reader.replayed ? { ...head.headers, 'idempotent-replayed': 'true' } : head.headers;
    if (!head.streamed) {
      this.#remove(reader);
      return reader.client.respond(head.status, headers, Buffer.from(this.#chunks.join(''), 'latin1'));
    }
    const stream = (reader.stream ??= this.#openFor(reader, headers));
    const end = this.#dropped + this.#chunks.length;
    while (!reader.full && reader.next < end) reader.full = !stream.write(this.#nextPiece(reader), 'bytes');
    if (!this.#ended || reader.next < end) return;
    this.#remove(reader);
    stream.end();
  }

  #openFor(reader: Reader, headers: Readonly<Record<string, string>>): ClientStream {
    const stream = reader.client.openStream(headers);
    stream.onDrain(() => {
      reader.full = false;
      if (this.#readers.has(reader)) this.#feed(reader);
      this.#goOn();
    });
    return stream;
  }

  /** Chunks that are there already go out together: one write for many. */
  #nextPiece(reader: Reader): string {
    const first = reader.next - this.#dropped;
    let last = first;
    let bytes = 0;
    do bytes += this.#chunks[last++]?.length ?? 0;
    while (last < this.#chunks.length && bytes < PIECE_BYTES);
    reader.next += last - first;
    const piece = last - first === 1 ? (this.#chunks[first] ?? '') : this.#chunks.slice(first, last).join('');
    const { skip } = reader;
    reader.skip = 0;
    return skip === 0 ? piece : piece.slice(skip);
  }

  #leave(reader: Reader): void {
    if (!this.#remove(reader)) return;
    if (this.#readers.size > 0 || this.#ended) return this.#goOn();
    if (this.#hooks.abandoned() === true) return;
    this.#abandoned = true;
    this.#left?.();
  }

  #remove(reader: Reader): boolean {
    const removed = this.#readers.delete(reader);
    this.#only = undefined;
    if (this.#readers.size === 1) for (const only of this.#readers) this.#only = only;
    if (removed) this.#hooks.moved(-1);
    return removed;
  }

  /** After a reader moved on or left: the run may have waited for it. */
  #goOn(): void {
    this.#account();
    if (!this.#paused || this.#mustWait()) return;
    this.#paused = false;
    this.#drained?.();
  }

  #mustWait(): boolean {
    if (this.#keeping) return false;
    for (const reader of this.#readers) if (reader.full) return true;
    return false;
  }

  /** Lets go of what everybody has read, once it is kept for nobody else, and says what is kept now. */
  #account(): void {
    if (!this.#keeping) this.#trim();
    const grown = this.bytes - this.#reported;
    this.#reported = this.bytes;
    if (grown !== 0) this.#hooks.resized(grown);
  }

  #trim(): void {
    let first = this.#dropped + this.#chunks.length;
    for (const reader of this.#readers) first = Math.min(first, reader.next);
    for (const chunk of this.#chunks.splice(0, first - this.#dropped))
      this.bytes -= chunk.length + CHUNK_BYTES;
    this.#dropped = first;
  }
}
