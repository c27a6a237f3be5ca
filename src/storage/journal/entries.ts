// Form of entries in a journal: length, checksum, kind, content. The same in its file and in memory, so that a recovery
// reads what an indexer reads.
import { crc32 } from 'node:zlib';
import { GatewayError } from '../../canonical/index.ts';
import { ORIGIN_ENTRY } from './origin.ts';

export interface Entry {
  /** Kind of the content: a number that a store has for its own. */
  readonly kind: number;
  readonly content: Uint8Array;
}

/** Length of kind and content together, and the CRC-32 of the content that begins with the kind: four bytes each, little-endian. */
const HEAD_BYTES = 8;
/** Bytes that an entry has besides its content. */
export const ENTRY_BYTES = HEAD_BYTES + 1;

/** End mark behind the last entry: a length of 0. Older entries may stand behind it. */
export const END_BYTES = 4;

/** Writes an entry and the end mark behind it. @returns where the mark begins: the next entry takes its place */
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
  /** End of the last of them. */
  readonly end: number;
  /** False: what follows the last of them is no whole entry, because its writer died, is still writing, or by damage. */
  readonly isWhole: boolean;
}

/** The entries from `start` up to the end mark. Their contents are views of the bytes. */
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

// Kinds of entries: the store that owns a kind says once how its entries are read and become rows.

/**
 * Puts entries of one kind into tables, inside a transaction. It may run again: what is there changes nothing.
 * @typeParam Write given the rows and whatever the database needs; gives a promise where the database is asked from afar
 */
export interface EntryWriter<T, In extends readonly unknown[], Out> {
  /** Decodes the content of an entry. @throws RangeError for one that cannot be read */
  readonly read: (content: Uint8Array) => T;
  readonly write: (rows: readonly T[], ...transaction: In) => Out;
}

/** Puts entries of one kind, which were read before, into their tables. */
export type Batch<In extends readonly unknown[], Out> = (...transaction: In) => Out;

/** @typeParam In what a transaction is, beside the rows; @typeParam Out `void`, or a promise */
export class EntryKinds<In extends readonly unknown[], Out> {
  readonly #kinds = new Map<number, (contents: readonly Uint8Array[]) => Batch<In, Out>>();
  readonly #notice: (sentence: string) => void;

  /** @param notice told, in a sentence, of entries that cannot be read */
  constructor(notice: (sentence: string) => void) {
    this.#notice = notice;
  }

  /** Says who puts the entries of a kind into the database. A kind is stored: it keeps its number for ever. */
  register<T>(kind: number, { read, write }: EntryWriter<T, In, Out>): void {
    this.#kinds.set(kind, (contents) => {
      const rows = this.#read(contents, read);
      return (...transaction) => write(rows, ...transaction);
    });
  }

  /** The entries as what is to be done inside a transaction. */
  batches(entries: readonly Entry[]): readonly Batch<In, Out>[] {
    const kinds = new Set(entries.map(({ kind }) => kind));
    // Says something of its neighbours, and has no row.
    kinds.delete(ORIGIN_ENTRY);
    return [...kinds].map((kind) => {
      const read = this.#kinds.get(kind);
      if (!read) throw new GatewayError('internal', `a journal holds an entry of the unknown kind ${kind}`);
      return read(entries.filter((entry) => entry.kind === kind).map(({ content }) => content));
    });
  }

  /** An entry that cannot be read now will not be readable later: the entries behind it must not wait for it. */
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
