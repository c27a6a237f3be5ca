// Stores of a PostgreSQL database: those of both databases, and those that only processes on several machines need.
import { noticeTables, openNotices } from '../tables/notices.ts';
import { shared, SHARED_STORES, STATE_STORES } from '../tables/stores.ts';
import type { PostgresBase, PostgresStore } from './store.ts';

export type PostgresStores = Readonly<Record<string, PostgresStore<unknown>>>;

export const STORES = {
  ...shared(STATE_STORES),
  ...shared(SHARED_STORES),
  notices: {
    tables: noticeTables,
    open: ({ database, listen }: PostgresBase) => openNotices(database, listen),
  },
} satisfies PostgresStores;
