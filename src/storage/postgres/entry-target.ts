// Writes journal entries to PostgreSQL, one slice per transaction.
import type { Entry } from '../journal/entries.ts';
import type { EntryTarget } from '../journal/indexer.ts';
import { isRefusedValue } from './failures.ts';
import type { PostgresBase, PostgresEntries } from './store.ts';

/** Entries per transaction. While one is running, the next entries accumulate. */
const SLICE = 512;

export class PostgresEntryTarget implements EntryTarget {
  readonly most = SLICE;
  readonly mostAtLeisure = SLICE;
  readonly #entries: PostgresEntries;
  readonly #transaction: PostgresBase['transaction'];
  readonly #notice: (sentence: string) => void;

  /** @param notice receives a sentence about each entry that the database rejects */
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

  /**
   * Writes entries one by one and drops rejected ones. They would always be rejected, and block the entries after them.
   */
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
