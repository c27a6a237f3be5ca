// The usage store: reports by time and name, end users, sums for limits, and background work.
import type { UsageStore } from '../../accounts/ports/index.ts';
import type { Database, Store } from '../tables/database.ts';
import { DayPartitions } from './day-partitions.ts';
import { endUserReport } from './end-users.ts';
import { limitSums } from './limit-sums.ts';
import { firstIdAt } from '../record-ids.ts';
import { recountDay } from './usage-recount.ts';
import { UsageReader } from './usage-reader.ts';
import { DAY_MS, USAGE, USAGE_END_USERS, USAGE_GROUPS } from './usage-tables.ts';
import { UsageWriter } from './usage-writer.ts';

/** Days for which partitions are created in advance, in PostgreSQL. */
const DAYS_AHEAD = 2;

export const usage: Store<UsageStore> = {
  tables: [USAGE_GROUPS, USAGE, USAGE_END_USERS],
  open,
};

function open(database: Database): UsageStore {
  const { indexer, transact } = database;
  const writer = new UsageWriter(database);
  const reader = new UsageReader(database);
  const days = new DayPartitions('records');
  return {
    async query(query) {
      await indexer.caughtUpWithAll();
      return reader.report(query);
    },
    async lastUsed(keys) {
      await indexer.caughtUpWithAll();
      return reader.lastUsed(keys);
    },
    async endUsers(query) {
      await indexer.caughtUpWithAll();
      return endUserReport(database, query);
    },
    async *read(query) {
      await indexer.caughtUpWithAll();
      yield* limitSums(database, query);
    },
    async recount(day) {
      await indexer.caughtUpWithAll();
      return recountDay(database, writer, day);
    },
    async maintain(nowMs) {
      if (database.kind === 'postgres') {
        const today = Math.floor(nowMs / DAY_MS);
        const ahead = Array.from({ length: DAYS_AHEAD + 1 }, (_, at) => firstIdAt((today + at) * DAY_MS));
        await transact(() => days.ensure(ahead)).catch((error: unknown) => {
          days.forget();
          throw error;
        });
      }
      return transact(() => writer.maintain(nowMs));
    },
    purge: (beforeMs) => transact(() => writer.purge(Math.floor(beforeMs / DAY_MS))),
  };
}
