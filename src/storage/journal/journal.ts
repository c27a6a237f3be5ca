// Entries that are not in the database yet: durable with one write to a file, and kept in memory in the same form
// for the indexer, in the order of its coming. Knows nothing of what the entries hold.
//
// It is made of pieces: a buffer and a file each. So a journal that is never empty, because entries come while others are
// on their way, does not grow, and of one that waits for a database for hours only a few pieces are in memory.
import { GatewayError } from '../../canonical/index.ts';
import { END_BYTES, ENTRY_BYTES, type Entry, readEntries, writeEntry } from './entries.ts';
import { type Origin, ORIGIN_ENTRY } from './origin.ts';

/** File in which the entries of a piece survive the death of the process. */
export interface JournalTarget {
  /** Writes these bytes, an entry and its end mark; safe when it returns. @throws Error when it cannot be written, and then it is not */
  append(bytes: Uint8Array, start: number, end: number): void;
  /** Forgets every entry: the next one is the first. */
  clear(): void;
  /** Takes no more entries: gives up what is only needed for writing. */
  seal(): void;
  /** Bytes that were written. */
  read(): Buffer;
  remove(): void;
  /** Takes room for as many bytes more. @throws Error when there is none */
  reserve(bytes: number): void;
}

/** Makes the place of the next piece. */
export type NextTarget = () => JournalTarget;

const PIECE_BYTES = 524_288;
const MOST_SPARE = 2;
/** Pieces whose bytes are in memory as well; of those beyond, only the first and the last. */
const MOST_IN_MEMORY = 16;
/** Bytes that must fit onto a disk that was full, before it is believed to have room again. */
const ROOM_BYTES = 65_536;
/** The share of what may wait from which on it is told to be full: what is running then still fits. */
const FULL = 0.95;

/** Entries one after another: those before `read` are in the database, those up to `written` are not. */
interface Piece {
  /** Null: in its file alone. */
  bytes: Buffer | null;
  readonly target: JournalTarget | null;
  read: number;
  written: number;
  /** Database of the latest entry, as `Origin` has it. */
  origin: Uint8Array | null;
  /** False: some of its entries could not be written, and are in memory alone. */
  isWhole: boolean;
}

export interface JournalOptions {
  /** Null for a database that does not outlive the process either. */
  readonly next: NextTarget | null;
  /** The most that may wait for the database, in bytes. */
  readonly maxBytes: () => number;
  /**
   * True where whoever appends waits for the database as well: what cannot be written is kept in memory then, as far as the
   * pieces in memory go, and is no error.
   */
  readonly keepsUnwritten?: boolean | undefined;
  /** Origin that every file names before its entries; absent where they need no explanation. */
  readonly origin?: Pick<Origin, 'current'> | undefined;
}

export class Journal {
  readonly #options: JournalOptions;
  readonly #pieces: [Piece, ...Piece[]];
  /** Bytes of pieces that were read: new ones in a steady flow would have the garbage collector run more often. */
  readonly #spare: Buffer[] = [];
  #appended = 0;
  #dropped = 0;
  #isRefused = false;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#pieces = [this.#piece(PIECE_BYTES)];
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

  /** True when the next entry may find no room: too much waits, or the disk took none the last time. */
  get isFull(): boolean {
    return this.#isRefused || this.waiting > FULL * this.#options.maxBytes();
  }

  /** Looks whether a disk that was full has room again. Costs nothing where it was not. */
  look(): void {
    if (!this.#isRefused) return;
    try {
      this.#last.target?.reserve(ROOM_BYTES);
      this.#isRefused = false;
    } catch {
      // Still full: whoever asks is told so.
    }
  }

  /**
   * Adds an entry; it survives the death of the process when this returns.
   * @throws GatewayError `internal` when the file cannot be written, or too much waits for the database
   */
  append(kind: number, content: Uint8Array): void {
    const origin = this.#options.origin?.current() ?? null;
    const room = 2 * ENTRY_BYTES + (origin?.length ?? 0) + content.length;
    if (this.waiting + room > this.#options.maxBytes())
      throw new GatewayError('internal', 'the journal is full: the database takes nothing');
    const piece = this.#roomFor(room + END_BYTES);
    if (origin && (piece.written === 0 || piece.origin !== origin)) {
      this.#write(piece, ORIGIN_ENTRY, origin);
      piece.origin = origin;
    }
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
        throw new GatewayError('internal', 'the journal could not be written', { cause });
      piece.isWhole = false;
    }
    piece.written = end;
    this.#appended += ENTRY_BYTES + content.length;
  }

  /** The oldest entries, at least one where any wait. They stay, and their contents are valid, until they are dropped. */
  oldest(most: number): readonly Entry[] {
    const [piece] = this.#pieces;
    return readEntries(bytesOf(piece).subarray(0, piece.written), piece.read, most).entries;
  }

  /** Forgets the oldest entries, which `oldest` gave: they are in the database. */
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
    // A piece without entries never was in use: a large entry is its first.
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
      origin: null,
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
