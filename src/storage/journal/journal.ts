// What was written and is not in the database yet: durable with one write to a file, and kept in memory in the same form
// for the indexer, in the order of its coming. Knows nothing of what the entries hold.
import { GatewayError } from '../../canonical/index.ts';
import { END_BYTES, ENTRY_BYTES, type Entry, readEntries, writeEntry } from './entries.ts';

/** Where entries survive the death of the process. */
export interface JournalTarget {
  /** Writes these bytes, an entry and its end mark; safe when it returns. @throws Error when it cannot be written, and then it is not */
  append(bytes: Uint8Array, start: number, end: number): void;
  clear(): void;
}

const CHUNK_BYTES = 262_144;
const MOST_SPARE = 4;

/** Entries one after another: those before `read` are in the database, those up to `written` are not. */
interface Chunk {
  readonly bytes: Buffer;
  read: number;
  written: number;
}

export class Journal {
  readonly #target: JournalTarget | null;
  readonly #maxBytes: number;
  readonly #chunks: [Chunk, ...Chunk[]] = [newChunk(CHUNK_BYTES)];
  /** Bytes of chunks that were read: new ones in a steady flow would have the garbage collector run more often. */
  readonly #spare: Buffer[] = [];
  #appended = 0;
  #dropped = 0;

  /**
   * @param target null for a database that does not outlive the process either
   * @param maxBytes the most that may wait for the database
   */
  constructor(target: JournalTarget | null, maxBytes: number) {
    this.#target = target;
    this.#maxBytes = maxBytes;
  }

  /** Bytes that were ever appended, and those of them that are in the database. */
  get appended(): number {
    return this.#appended;
  }
  get dropped(): number {
    return this.#dropped;
  }

  /** Bytes that are not in the database. */
  get waiting(): number {
    return this.#appended - this.#dropped;
  }

  /**
   * Adds an entry; it survives the death of the process when this returns.
   * @throws GatewayError `internal` when the file cannot be written, or too much waits for the database
   */
  append(kind: number, content: Uint8Array): void {
    const length = ENTRY_BYTES + content.length;
    if (this.waiting + length > this.#maxBytes)
      throw new GatewayError('internal', 'the journal is full: the database takes nothing');
    let chunk = this.#chunks.at(-1) ?? this.#chunks[0];
    if (chunk.written + length + END_BYTES > chunk.bytes.length) {
      chunk = this.#nextChunk(length + END_BYTES);
      this.#chunks.push(chunk);
    }
    const end = writeEntry(chunk.bytes, chunk.written, kind, content);
    try {
      this.#target?.append(chunk.bytes, chunk.written, end + END_BYTES);
    } catch (cause) {
      throw new GatewayError('internal', 'the journal could not be written', { cause });
    }
    chunk.written = end;
    this.#appended += length;
  }

  /** The oldest entries, at least one where any wait. They stay, and their contents are valid, until they are dropped. */
  oldest(most: number): readonly Entry[] {
    const [chunk] = this.#chunks;
    return readEntries(chunk.bytes.subarray(0, chunk.written), chunk.read, most).entries;
  }

  /** Forgets the oldest entries, which `oldest` gave: they are in the database. */
  drop(entries: readonly Entry[]): void {
    const [chunk, ...later] = this.#chunks;
    for (const { content } of entries) {
      chunk.read += ENTRY_BYTES + content.length;
      this.#dropped += ENTRY_BYTES + content.length;
    }
    if (chunk.read < chunk.written) return;
    if (later.length === 0) return this.#clear(chunk);
    this.#chunks.shift();
    if (chunk.bytes.length === CHUNK_BYTES && this.#spare.length < MOST_SPARE) this.#spare.push(chunk.bytes);
  }

  #nextChunk(bytes: number): Chunk {
    const spare = bytes <= CHUNK_BYTES ? this.#spare.pop() : undefined;
    return spare ? { bytes: spare, read: 0, written: 0 } : newChunk(Math.max(CHUNK_BYTES, bytes));
  }

  #clear(chunk: Chunk): void {
    this.#target?.clear();
    chunk.read = 0;
    chunk.written = 0;
    if (chunk.bytes.length > CHUNK_BYTES) this.#chunks[0] = newChunk(CHUNK_BYTES);
  }
}

function newChunk(bytes: number): Chunk {
  return { bytes: Buffer.allocUnsafeSlow(bytes), read: 0, written: 0 };
}
