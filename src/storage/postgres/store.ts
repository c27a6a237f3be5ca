// Dependencies of PostgreSQL stores.
import type { Kysely, Transaction } from 'kysely';
import type { EntryKinds } from '../journal/entries.ts';
import type { NoticeListener } from '../../accounts/ports/index.ts';
import type { SettingsSchema } from '../tables/settings.ts';
import type { StateDatabase } from '../tables/database.ts';
import type { DriverStore } from '../tables/stores.ts';

/** Tables that several stores use. A store casts to the type of its own tables. */
export type PostgresSchema = SettingsSchema;

export type Tx = Transaction<PostgresSchema>;

/** Kinds of journal entries, and how they are written. */
export type PostgresEntries = EntryKinds<[Tx], Promise<void>>;

/** Dependencies of every store. */
export interface PostgresBase {
  /** Builds and runs queries. Each takes a connection of the pool while it runs. */
  readonly db: Kysely<PostgresSchema>;
  /** Dependencies of the stores of both databases. */
  readonly database: StateDatabase;
  /**
   * Runs work in one transaction (read committed). After a conflict it runs again, so it must have no effects other
   * than on the database. If it throws, everything is rolled back.
   */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /** Listens on a channel, on a separate connection. @throws GatewayError 503 */
  readonly listen: (channel: string, listener: (text: string) => void) => Promise<NoticeListener>;
}

export type PostgresStore<T> = DriverStore<PostgresBase, T>;
