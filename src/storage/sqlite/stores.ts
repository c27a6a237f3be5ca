// Stores of a SQLite database.
import { shared, STATE_STORES } from '../tables/stores.ts';
import type { SqliteStore } from './store.ts';

export type SqliteStores = Readonly<Record<string, SqliteStore<unknown>>>;

export const STORES = shared(STATE_STORES) satisfies SqliteStores;
