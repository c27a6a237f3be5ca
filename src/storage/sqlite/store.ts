// Dependencies of SQLite stores.
import type { SqlConnection } from '../../base/runtime/sqlite.ts';
import type { Indexer } from '../journal/indexer.ts';
import type { StateDatabase } from '../tables/database.ts';
import type { DriverStore } from '../tables/stores.ts';
import type { SqliteDatabase } from './database.ts';

/** Dependencies of every store. */
export interface SqliteBase {
  readonly connection: SqlConnection;
  /** Dependencies of the stores of both databases. */
  readonly database: SqliteDatabase & StateDatabase;
  /** For journal entries that an answer waits for. */
  readonly indexer: Indexer;
}

export type SqliteStore<T> = DriverStore<SqliteBase, T>;
