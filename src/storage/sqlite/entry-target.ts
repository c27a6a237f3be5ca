// Writes journal entries to SQLite, in the same transaction as other current writes.
import type { Entry, EntryKinds } from '../journal/entries.ts';
import type { EntryTarget } from '../journal/indexer.ts';
import type { SqliteDriver } from './database.ts';
import type { GroupCommit } from './group-commit.ts';

/**
 * Maximum entries per transaction, which is also the size of a journal chunk: a few milliseconds, in which the event
 * loop is blocked.
 */
const SLICE = 512;
/**
 * Maximum entries per transaction under low load: it blocks requests for less than a millisecond, at 1.5 times the cost
 * per entry. Under high load, more entries wait and whole slices are written.
 */
const SMALL_SLICE = 16;

export class SqliteEntryTarget implements EntryTarget {
  readonly most = SLICE;
  readonly mostAtLeisure = SMALL_SLICE;
  readonly #kinds: EntryKinds;
  readonly #commits: GroupCommit;
  readonly #run: SqliteDriver['run'];

  constructor(kinds: EntryKinds, commits: GroupCommit, run: SqliteDriver['run']) {
    this.#kinds = kinds;
    this.#commits = commits;
    this.#run = run;
  }

  async bringIn(choose: () => readonly Entry[], isAtOnce: boolean): Promise<void> {
    // Earlier writes are written first.
    if (isAtOnce) await this.#commits.flush();
    const done = this.#commits.add(() => this.#run(this.#kinds.write(choose())));
    if (isAtOnce) await this.#commits.flush();
    await done;
  }
}
