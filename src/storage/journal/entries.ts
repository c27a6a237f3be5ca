// Format of journal entries: length, checksum, kind, content. It is the same in files and in memory, so that recovery and
// indexer use the same reader.
import { crc32 } from 'node:zlib';
import { GatewayError } from '../../canonical/index.ts';
import type { Queries } from '../tables/database.ts';

export interface Entry {
  /** Kind of the content: a number that belongs to one store. */
  readonly kind: number;
  readonly content: Uint8Array;
}

/** Length, and CRC-32, of kind and content together: four bytes each, little-endian. */
const HEAD_BYTES = 8;
/** Overhead of an entry in bytes. */
export const ENTRY_BYTES = HEAD_BYTES + 1;

/** Size of the end mark after the last entry: a length of 0. Older entries may follow it. */
export const END_BYTES = 4;

/** Writes an entry and the end mark. @returns offset of the mark, which the next entry overwrites */
export function writeEntry(target: Buffer, start: number, kind: number, content: Uint8Array): number {
  const body = start + HEAD_BYTES;
  const end = body + 1 + content.length;
  target[body] = kind;
  target.set(content, body + 1);
  target.writeUInt32LE(1 + content.length, start);
  target.writeUInt32LE(crc32(content, kind), start + 4);
  target.writeUInt32LE(0, end);
  return end;
}

export interface ReadEntries {
  readonly entries: readonly Entry[];
  /** Offset after the last entry. */
  readonly end: number;
  /** False: an incomplete entry follows, because its writer crashed or is still writing, or because of damage. */
  readonly isWhole: boolean;
}

/** Reads the entries from `start` to the end mark. Their contents are views of the bytes. */
export function readEntries(bytes: Buffer, start = 0, most = Infinity): ReadEntries {
  const entries: Entry[] = [];
  let at = start;
  while (entries.length < most && at < bytes.length) {
    const body = at + HEAD_BYTES;
    const length = at + END_BYTES <= bytes.length ? bytes.readUInt32LE(at) : Infinity;
    if (length === 0) break;
    const end = body + length;
    if (end > bytes.length) return { entries, end: at, isWhole: false };
    const kind = bytes[body] ?? 0;
    const content = new Uint8Array(bytes.buffer, bytes.byteOffset + body + 1, length - 1);
    if (crc32(content, kind) !== bytes.readUInt32LE(at + 4)) return { entries, end: at, isWhole: false };
    entries.push({ kind, content });
    at = end;
  }
  return { entries, end: at, isWhole: true };
}

/** Kind of entries that identify the database of the entries after them. They have no row. */
export const ORIGIN_ENTRY = 0;

/** The entries before the first one that belongs to another database. @param origin identity; null: all are this one's */
export function entriesOf(origin: Uint8Array | null, entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex(
    ({ kind, content }) => kind === ORIGIN_ENTRY && origin !== null && Buffer.compare(content, origin) !== 0,
  );
  return end < 0 ? entries : entries.slice(0, end);
}

// Kinds of entries. The store that owns a kind registers how its entries are decoded and written to tables.

/** Decodes and writes entries of one kind. */
export interface EntryWriter<T> {
  /** Decodes the content of an entry. @throws RangeError if it is invalid */
  readonly read: (content: Uint8Array) => T;
  /** Writes decoded entries to their tables. Must be idempotent. */
  readonly write: (rows: readonly T[]) => Queries<void>;
}

export class EntryKinds {
  readonly #kinds = new Map<number, (contents: readonly Uint8Array[]) => Queries<void>>();
  readonly #notice: (sentence: string) => void;

  /** @param notice receives a sentence about invalid entries */
  constructor(notice: (sentence: string) => void) {
    this.#notice = notice;
  }

  /** Registers the writer of a kind. Kinds are part of the storage format and never change their number. */
  readonly register = <T>(kind: number, { read, write }: EntryWriter<T>): void => {
    this.#kinds.set(kind, (contents) => write(this.#read(contents, read)));
  };

  /** Writes entries to their tables, inside a transaction. */
  *write(entries: readonly Entry[]): Queries<void> {
    const byKind = Map.groupBy(entries, ({ kind }) => kind);
    byKind.delete(ORIGIN_ENTRY);
    for (const [kind, some] of byKind) {
      const write = this.#kinds.get(kind);
      if (!write) throw new GatewayError('internal', `a journal entry has the unknown kind ${kind}`);
      yield* write(some.map(({ content }) => content));
    }
  }

  /** Decodes entries, skipping invalid ones, which must not block those after them. */
  #read<T>(contents: readonly Uint8Array[], read: (content: Uint8Array) => T): readonly T[] {
    const rows: T[] = [];
    for (const content of contents) {
      try {
        rows.push(read(content));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.#notice(`a journal entry cannot be read and is skipped: ${error.message}`);
      }
    }
    return rows;
  }
}
