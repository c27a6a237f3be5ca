// One answer with several readers: keeps what a run writes and sends all of it to each reader at that reader's pace,
// whenever it joined.
import type { Body, Client, ClientStream, Encoding } from '../call.ts';
import { toByteString } from '../../base/lib/bytes.ts';

/** Maximum bytes per write to a reader that catches up, so that its socket can apply backpressure. */
const PIECE_BYTES = 65_536;
/** Estimated overhead of a kept chunk, in addition to its bytes. */
const CHUNK_BYTES = 64;

/** Callbacks for accounting. */
export interface SharedAnswerHooks {
  /** Called with the change of the kept bytes. */
  readonly resized: (bytes: number) => void;
  /** Called with the number of readers that joined, or left (negative). */
  readonly moved: (readers: number) => void;
  /**
   * The last reader left before the end.
   * @returns true: the run continues for later readers. Otherwise it stops, and no reader may join
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
  /** True for all readers except the one whose request started the run. */
  readonly replayed: boolean;
  stream: ClientStream | undefined;
  /** The first chunk that it lacks, counted from the start of the answer. */
  next: number;
  /** Bytes of that chunk to skip. */
  skip: number;
  /** True while its socket applies backpressure. A reader that is behind is always full. */
  full: boolean;
}

/** A position in an answer: a chunk, and the bytes before the position in it. */
export interface Place {
  readonly chunk: number;
  readonly skip: number;
}

const START: Place = { chunk: 0, skip: 0 };

/** Client of a run that serves any number of clients. */
export class SharedAnswer implements Client, ClientStream {
  /** Kept bytes, including overhead. */
  bytes = 0;
  /** Part of `bytes` that was reported. */
  #reported = 0;
  readonly #hooks: SharedAnswerHooks;
  readonly #readers = new Set<Reader>();
  /** The reader, if there is exactly one, which is usual. */
  #only: Reader | undefined;
  #head: Head | undefined;
  /** Byte strings. */
  #chunks: string[] = [];
  /** Number of dropped chunks before the first of `#chunks`. */
  #dropped = 0;
  #ended = false;
  /** False: only what a reader still needs is kept. */
  #keeping = true;
  #paused = false;
  #abandoned = false;
  #left: (() => void) | undefined;
  #drained: (() => void) | undefined;

  constructor(hooks: SharedAnswerHooks) {
    this.#hooks = hooks;
  }

  /**
   * Adds a reader: it gets everything so far, then the rest as it is written. Not allowed after `stopKeeping`.
   * @param replayed true: a header tells the reader that the answer is replayed
   * @param from start position; absent: the beginning
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

  /** False once later readers cannot read it from the start. */
  get isKept(): boolean {
    return this.#keeping;
  }

  /** True once it is complete. */
  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Chunks so far, while they are kept. */
  get chunks(): readonly string[] {
    return this.#chunks;
  }

  /** Stops the run if there are no readers. */
  abandon(): void {
    if (this.#readers.size > 0 || this.#ended) return;
    this.#abandoned = true;
    this.#left?.();
  }

  /** Keeps nothing for later readers. Current readers are served to the end. */
  stopKeeping(): void {
    this.#keeping = false;
    this.#account();
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void {
    // A stream that has begun cannot become a whole answer, so it ends here, visibly incomplete.
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

  /** False only when nothing is kept for later readers and a current one is behind. */
  write(data: string, encoding: Encoding): boolean {
    this.#add(data, encoding);
    this.#paused = this.#mustWait();
    return !this.#paused;
  }

  /** Writes to the readers of this moment alone, where they are not behind: later ones do not get it. */
  passOn(data: string, encoding: Encoding): void {
    const end = this.#dropped + this.#chunks.length;
    for (const reader of this.#readers)
      if (reader.stream && !reader.full && reader.next === end)
        reader.full = !reader.stream.write(data, encoding);
  }

  onDrain(drained: () => void): void {
    this.#drained = drained;
  }

  end(): void {
    this.#runHasEnded();
    this.#feedAll();
    this.#account();
  }

  /** Releases callbacks, so that an answer kept for hours does not keep its request in memory. */
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
      // Passed in its original encoding, so that it is not inspected again.
      reader.full = !reader.stream.write(data, encoding);
    } else this.#feedAll();
    this.#account();
  }

  #feedAll(): void {
    for (const reader of this.#readers) this.#feed(reader);
  }

  /** Sends a reader what it lacks, as far as its socket accepts it. */
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
      this.#resume();
    });
    return stream;
  }

  /** Joins available chunks into one write. */
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
    if (this.#readers.size > 0 || this.#ended) return this.#resume();
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

  /** Resumes the run after a reader caught up or left. */
  #resume(): void {
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

  /** Drops chunks that all readers have read, if they need not be kept, and reports the kept bytes. */
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
