// Parts of PostgreSQL that stores are given when they are opened.
import type { Kysely, Transaction } from 'kysely';
import type { EntryKinds } from '../journal/entries.ts';
import type { NoticeListener } from '../../accounts/ports/index.ts';
import type { SettingsSchema } from '../tables/settings.ts';
import type { StateDatabase } from '../tables/database.ts';
import type { DriverStore } from '../tables/stores.ts';

/** The tables that several stores know; others are known by their store alone, which says so by a cast. */
export type PostgresSchema = SettingsSchema;

/** A transaction that runs. */
export type Tx = Transaction<PostgresSchema>;

/** Kinds of entries, and how they become rows. */
export type PostgresEntries = EntryKinds<[Tx], Promise<void>>;

/** Parts that every store of a database is given. */
export interface PostgresBase {
  /** Builds and runs queries, each on a connection of the pool for as long as it takes. */
  readonly db: Kysely<PostgresSchema>;
  /** Parts that stores of both databases are given. */
  readonly database: StateDatabase;
  /**
   * Runs work in one transaction (read committed). It may run again when others were in its way: it has no effect but on
   * the database. What it throws undoes all of it.
   */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /** Hears what is told on a channel, on a connection of its own. @throws GatewayError 503 */
  readonly listen: (channel: string, listener: (text: string) => void) => Promise<NoticeListener>;
}

/** A store of this database. */
export type PostgresStore<T> = DriverStore<PostgresBase, T>;
