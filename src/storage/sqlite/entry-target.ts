// Brings entries of journals into SQLite, within the transaction that other writes of the moment share.
import type { Entry } from '../journal/entries.ts';
import type { EntryKinds } from '../journal/entry-kinds.ts';
import type { EntryTarget } from '../journal/indexer.ts';
import type { GroupCommit } from './group-commit.ts';
import type { SqliteNames } from './names.ts';

/** Entries of one transaction, or as many as a piece of the journal has: one or two milliseconds. */
const SLICE = 256;

export class SqliteEntryTarget implements EntryTarget {
  readonly most = SLICE;
  readonly #kinds: EntryKinds<[], void>;
  readonly #commits: GroupCommit;
  readonly #names: SqliteNames;

  constructor(kinds: EntryKinds<[], void>, commits: GroupCommit, names: SqliteNames) {
    this.#kinds = kinds;
    this.#commits = commits;
    this.#names = names;
  }

  async bringIn(choose: () => readonly Entry[], isAtOnce: boolean): Promise<void> {
    // What waits already comes first, and names are learned outside of a transaction.
    if (isAtOnce) await this.#commits.flush();
    else this.#names.learn();
    const done = this.#commits.add(() => {
      for (const write of this.#kinds.batches(choose())) write();
    });
    if (isAtOnce) await this.#commits.flush();
    await done;
  }
}
