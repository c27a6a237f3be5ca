// Brings entries of journals into SQLite, within the transaction that other writes of the moment share.
import type { Entry, EntryKinds } from '../journal/entries.ts';
import type { EntryTarget } from '../journal/indexer.ts';
import type { GroupCommit } from './group-commit.ts';

/** Entries of one transaction, or as many as a piece of the journal has: a few milliseconds, in which nobody else runs. */
const SLICE = 512;
/**
 * Less than a millisecond, which every request that comes meanwhile waits. An entry costs half as much again as in a whole slice;
 * a gateway with much to do takes whole ones, since more entries wait then.
 */
const SMALL_SLICE = 16;

export class SqliteEntryTarget implements EntryTarget {
  readonly most = SLICE;
  readonly mostAtLeisure = SMALL_SLICE;
  readonly #kinds: EntryKinds<[], void>;
  readonly #commits: GroupCommit;

  constructor(kinds: EntryKinds<[], void>, commits: GroupCommit) {
    this.#kinds = kinds;
    this.#commits = commits;
  }

  async bringIn(choose: () => readonly Entry[], isAtOnce: boolean): Promise<void> {
    // Writes that wait already come first.
    if (isAtOnce) await this.#commits.flush();
    const done = this.#commits.add(() => {
      for (const write of this.#kinds.batches(choose())) write();
    });
    if (isAtOnce) await this.#commits.flush();
    await done;
  }
}
