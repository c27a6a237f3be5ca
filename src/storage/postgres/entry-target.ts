// Brings entries of journals into PostgreSQL, a slice with one transaction.
import type { Entry } from '../journal/entries.ts';
import type { EntryTarget } from '../journal/indexer.ts';
import { isRefusedValue } from './failures.ts';
import type { PostgresBase, PostgresEntries } from './store.ts';

/** Entries of one transaction: while one is on its way, the next ones gather. */
const SLICE = 512;

export class PostgresEntryTarget implements EntryTarget {
  readonly most = SLICE;
  readonly mostAtLeisure = SLICE;
  readonly #entries: PostgresEntries;
  readonly #transaction: PostgresBase['transaction'];
  readonly #notice: (sentence: string) => void;

  /** @param notice told, in a sentence, of entries that the database refuses */
  constructor(
    entries: PostgresEntries,
    transaction: PostgresBase['transaction'],
    notice: (sentence: string) => void,
  ) {
    this.#entries = entries;
    this.#transaction = transaction;
    this.#notice = notice;
  }

  async bringIn(choose: () => readonly Entry[]): Promise<void> {
    const entries = choose();
    try {
      await this.#write(entries);
    } catch (error) {
      if (!isRefusedValue(error)) throw error;
      await this.#writeEach(entries);
    }
  }

  #write(entries: readonly Entry[]): Promise<void> {
    return this.#transaction(async (tx) => {
      for (const write of this.#entries.batches(entries)) await write(tx);
    });
  }

  /** An entry that the database refuses now it refuses later as well: the entries behind it must not wait for it. */
  async #writeEach(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      try {
        await this.#write([entry]);
      } catch (error) {
        if (!isRefusedValue(error)) throw error;
        this.#notice('the database refuses an entry of a journal, which is left out');
      }
    }
  }
}
