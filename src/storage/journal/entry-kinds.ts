// Kinds of entries: the store that owns a kind says once how its entries are read and become rows.
import { GatewayError } from '../../canonical/index.ts';
import type { Entry } from './entries.ts';
import { ORIGIN_ENTRY } from './origin.ts';

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
