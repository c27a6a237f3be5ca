// Writes journal entries to PostgreSQL, one slice per transaction.
import type { Entry, EntryKinds } from '../journal/entries.ts';
import type { EntryTarget } from '../journal/indexer.ts';
import type { Transact } from '../tables/database.ts';
import { isRefusedValue } from './failures.ts';

/** Entries per transaction. While one is running, the next entries accumulate. */
const SLICE = 512;

export class PostgresEntryTarget implements EntryTarget {
  readonly most = SLICE;
  readonly mostAtLeisure = SLICE;
  readonly #kinds: EntryKinds;
  readonly #transact: Transact;
  readonly #notice: (sentence: string) => void;

  /** @param notice receives a sentence about each entry that the database rejects */
  constructor(kinds: EntryKinds, transact: Transact, notice: (sentence: string) => void) {
    this.#kinds = kinds;
    this.#transact = transact;
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
    return this.#transact(() => this.#kinds.write(entries));
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
        this.#notice('the database rejected a journal entry, which is skipped');
      }
    }
  }
}
