// Writes journal entries to PostgreSQL, one slice per transaction.
import type { Entry, EntryKinds } from '../journal/entries.ts';
import type { EntryTarget } from '../journal/indexer.ts';
import type { Driver } from '../tables/database.ts';
import { isRefusedValue } from './failures.ts';

/** Entries per transaction. While one is running, the next entries accumulate. */
const SLICE = 512;

/** @param notice receives a sentence about each entry that the database rejects */
export function entryTarget(
  entries: EntryKinds,
  { transact }: Pick<Driver, 'transact'>,
  notice: (sentence: string) => void,
): EntryTarget {
  const write = (some: readonly Entry[]): Promise<void> => transact(() => entries.write(some));
  /** Calls `instead` if the database rejects values. */
  const unlessRefused = (some: readonly Entry[], instead: () => Promise<void> | void): Promise<void> =>
    write(some).catch((error: unknown) => {
      if (!isRefusedValue(error)) throw error;
      return instead();
    });
  return {
    most: SLICE,
    mostAtLeisure: SLICE,
    bringIn(choose) {
      const some = choose();
      return unlessRefused(some, async () => {
        // A rejected entry would always be rejected, and block those after it.
        for (const entry of some)
          await unlessRefused([entry], () =>
            notice('the database rejected a journal entry, which is skipped'),
          );
      });
    },
  };
}
