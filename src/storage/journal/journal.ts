// Journal of entries that are not in the database yet. Each is durable after one write to a file, and is kept in memory in
// the same format for the indexer.
//
// The journal consists of pieces with a buffer and a file each. So a journal that is never empty does not grow without
// bounds, and during a long outage of the database only a few pieces are in memory.
import { GatewayError } from '../../canonical/index.ts';
import { END_BYTES, ENTRY_BYTES, type Entry, ORIGIN_ENTRY, readEntries, writeEntry } from './entries.ts';

/** File of a piece. */
export interface JournalTarget {
  /** Writes an entry and its end mark, durably. @throws Error if it cannot be written; then nothing of it is */
  append(bytes: Uint8Array, start: number, end: number): void;
  /** Removes all entries. */
  clear(): void;
  /** Ends writing, and releases what is only needed for it. */
  seal(): void;
  /** Reads the written bytes. */
  read(): Buffer;
  remove(): void;
  /** Allocates disk space. @throws Error if there is not enough */
  reserve(bytes: number): void;
}

/** Creates the file of the next piece. */
export type NextTarget = () => JournalTarget;

const PIECE_BYTES = 524_288;
const MOST_SPARE = 2;
/** Pieces that are also in memory. With more pieces, only the first and the last are. */
const MOST_IN_MEMORY = 16;
/** Bytes that must be allocatable before a full disk counts as usable again. */
const ROOM_BYTES = 65_536;
/** Share of the maximum at which the journal reports to be full, so that running requests still fit. */
const FULL = 0.95;

/** A piece. Entries before `read` are in the database, those from there to `written` are not. */
interface Piece {
  /** Null: only in its file. */
  bytes: Buffer | null;
  readonly target: JournalTarget | null;
  read: number;
  written: number;
  /** False: some entries could not be written, and are only in memory. */
  isWhole: boolean;
}

export interface JournalOptions {
  /** Creates files; null: the database does not outlive the process either. */
  readonly next: NextTarget | null;
  /** Maximum bytes that may wait for the database. */
  readonly maxBytes: () => number;
  /**
   * True if callers also wait for the database. Entries that cannot be written to a file are then kept in memory, up to its
   * limit, without an error.
   */
  readonly keepsUnwritten?: boolean | undefined;
  /** Identity of the database, written before the entries of each file; absent: not needed. */
  readonly origin?: Uint8Array | undefined;
}

export class Journal {
  readonly #options: JournalOptions;
  readonly #pieces: [Piece, ...Piece[]];
  /** Buffers of finished pieces, reused to reduce garbage collections. */
  readonly #spare: Buffer[] = [];
  #appended = 0;
  #dropped = 0;
  #isRefused = false;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#pieces = [this.#piece(PIECE_BYTES)];
  }

  /** Total bytes appended so far. */
  get appended(): number {
    return this.#appended;
  }
  get dropped(): number {
    return this.#dropped;
  }

  /** Bytes that are not in the database yet. */
  get waiting(): number {
    return this.#appended - this.#dropped;
  }

  /** True if the next entry may be refused: too many bytes wait, or the last write to disk failed. */
  get isFull(): boolean {
    return this.#isRefused || this.waiting > FULL * this.#options.maxBytes();
  }

  /** Checks whether a full disk has free space again. */
  look(): void {
    if (!this.#isRefused) return;
    try {
      this.#last.target?.reserve(ROOM_BYTES);
      this.#isRefused = false;
    } catch {
      // Still full.
    }
  }

  /**
   * Appends an entry. It survives a crash of the process when this returns.
   * @throws GatewayError `internal` if the file cannot be written, or too many bytes wait for the database
   */
  append(kind: number, content: Uint8Array): void {
    const { origin } = this.#options;
    const room = 2 * ENTRY_BYTES + (origin?.length ?? 0) + content.length;
    if (this.waiting + room > this.#options.maxBytes())
      throw new GatewayError(
        'internal',
        'The journal is full, because records cannot be written to the database.',
      );
    const piece = this.#roomFor(room + END_BYTES);
    if (origin && piece.written === 0) this.#write(piece, ORIGIN_ENTRY, origin);
    this.#write(piece, kind, content);
  }

  #write(piece: Piece, kind: number, content: Uint8Array): void {
    const bytes = bytesOf(piece);
    const end = writeEntry(bytes, piece.written, kind, content);
    try {
      piece.target?.append(bytes, piece.written, end + END_BYTES);
      this.#isRefused = false;
    } catch (cause) {
      this.#isRefused = true;
      if (!this.#options.keepsUnwritten || this.#pieces.length > MOST_IN_MEMORY)
        throw new GatewayError('internal', 'The journal could not be written.', { cause });
      piece.isWhole = false;
    }
    piece.written = end;
    this.#appended += ENTRY_BYTES + content.length;
  }

  /** The oldest entries, at least one if there are any. Their contents are valid until they are dropped. */
  oldest(most: number): readonly Entry[] {
    const [piece] = this.#pieces;
    return readEntries(bytesOf(piece).subarray(0, piece.written), piece.read, most).entries;
  }

  /** Removes entries from `oldest` that are in the database. */
  drop(entries: readonly Entry[]): void {
    const [piece, ...later] = this.#pieces;
    for (const { content } of entries) {
      piece.read += ENTRY_BYTES + content.length;
      this.#dropped += ENTRY_BYTES + content.length;
    }
    if (piece.read < piece.written) return;
    if (later.length === 0) return this.#clear(piece);
    this.#pieces.shift();
    this.#forget(piece);
  }

  get #last(): Piece {
    return this.#pieces.at(-1) ?? this.#pieces[0];
  }

  #roomFor(length: number): Piece {
    const last = this.#last;
    if (last.written + length <= (last.bytes?.length ?? PIECE_BYTES)) return last;
    const next = this.#piece(Math.max(PIECE_BYTES, length));
    // A piece without entries is unused, so a large entry can be its first.
    if (last.written === 0) {
      this.#pieces.pop();
      this.#forget(last);
    } else {
      last.target?.seal();
      if (last.target && last.isWhole && this.#pieces.length > MOST_IN_MEMORY) last.bytes = null;
    }
    this.#pieces.push(next);
    return next;
  }

  #piece(bytes: number): Piece {
    const spare = bytes === PIECE_BYTES ? this.#spare.pop() : undefined;
    return {
      bytes: spare ?? Buffer.allocUnsafeSlow(bytes),
      target: this.#options.next?.() ?? null,
      read: 0,
      written: 0,
      isWhole: true,
    };
  }

  #forget({ bytes, target }: Piece): void {
    target?.remove();
    if (bytes?.length === PIECE_BYTES && this.#spare.length < MOST_SPARE) this.#spare.push(bytes);
  }

  #clear(piece: Piece): void {
    if (piece.bytes !== null && piece.bytes.length > PIECE_BYTES) {
      this.#forget(piece);
      this.#pieces[0] = this.#piece(PIECE_BYTES);
      return;
    }
    piece.target?.clear();
    piece.read = 0;
    piece.written = 0;
    piece.isWhole = true;
  }
}

function bytesOf(piece: Piece): Buffer {
  return (piece.bytes ??= piece.target?.read() ?? Buffer.alloc(0));
}
