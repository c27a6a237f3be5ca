// Writes journal entries to SQLite, in the same transaction as other current writes.
import type { EntryKinds } from '../journal/entries.ts';
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

export function entryTarget(
  entries: EntryKinds,
  commits: GroupCommit,
  { run }: Pick<SqliteDriver, 'run'>,
): EntryTarget {
  return {
    most: SLICE,
    mostAtLeisure: SMALL_SLICE,
    async bringIn(choose, isAtOnce) {
      // Earlier writes are written first.
      if (isAtOnce) await commits.flush();
      const done = commits.add(() => run(entries.write(choose())));
      if (isAtOnce) await commits.flush();
      await done;
    },
  };
}
