// Parts of SQLite that stores are given when they are opened.
import type { SqlConnection } from '../../base/runtime/sqlite.ts';
import type { Indexer } from '../journal/indexer.ts';
import type { StateDatabase } from '../tables/database.ts';
import type { DriverStore } from '../tables/stores.ts';
import type { SqliteDatabase } from './database.ts';

/** Parts that every store of a database is given. */
export interface SqliteBase {
  readonly connection: SqlConnection;
  /** Parts that stores of both databases are given. */
  readonly database: SqliteDatabase & StateDatabase;
  /** Indexer for writes that an answer waits for. */
  readonly indexer: Indexer;
}

/** A store of this database. */
export type SqliteStore<T> = DriverStore<SqliteBase, T>;
