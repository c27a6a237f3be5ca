// Format of journal entries: length, checksum, kind, content. It is the same in files and in memory, so that recovery and
// indexer use the same reader.
import { crc32 } from 'node:zlib';
import { GatewayError } from '../../canonical/index.ts';
import { ORIGIN_ENTRY } from './origin.ts';

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

// Kinds of entries. The store that owns a kind registers how its entries are decoded and written to tables.

/**
 * Writes entries of one kind to tables, within a transaction. Must be idempotent.
 * @typeParam In further arguments of the write function
 * @typeParam Out its result: a promise for a remote database
 */
export interface EntryWriter<T, In extends readonly unknown[], Out> {
  /** Decodes the content of an entry. @throws RangeError if it is invalid */
  readonly read: (content: Uint8Array) => T;
  readonly write: (rows: readonly T[], ...transaction: In) => Out;
}

/** Writes decoded entries of one kind to their tables. */
export type Batch<In extends readonly unknown[], Out> = (...transaction: In) => Out;

/** @typeParam In arguments of a transaction in addition to the rows @typeParam Out `void` or a promise */
export class EntryKinds<In extends readonly unknown[], Out> {
  readonly #kinds = new Map<number, (contents: readonly Uint8Array[]) => Batch<In, Out>>();
  readonly #notice: (sentence: string) => void;

  /** @param notice receives a sentence about invalid entries */
  constructor(notice: (sentence: string) => void) {
    this.#notice = notice;
  }

  /** Registers the writer of a kind. Kinds are part of the storage format and never change their number. */
  register<T>(kind: number, { read, write }: EntryWriter<T, In, Out>): void {
    this.#kinds.set(kind, (contents) => {
      const rows = this.#read(contents, read);
      return (...transaction) => write(rows, ...transaction);
    });
  }

  /** Decodes entries into batches, which are run within a transaction. */
  batches(entries: readonly Entry[]): readonly Batch<In, Out>[] {
    const kinds = new Set(entries.map(({ kind }) => kind));
    // It describes the following entries, and has no row.
    kinds.delete(ORIGIN_ENTRY);
    return [...kinds].map((kind) => {
      const read = this.#kinds.get(kind);
      if (!read) throw new GatewayError('internal', `a journal holds an entry of the unknown kind ${kind}`);
      return read(entries.filter((entry) => entry.kind === kind).map(({ content }) => content));
    });
  }

  /** Decodes entries, skipping invalid ones, which must not block those after them. */
  #read<T>(contents: readonly Uint8Array[], read: (content: Uint8Array) => T): readonly T[] {
    const rows: T[] = [];
    for (const content of contents) {
      try {
        rows.push(read(content));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.#notice(`an entry of a journal cannot be read and is left out: ${error.message}`);
      }
    }
    return rows;
  }
}
