// What a table is made of in PostgreSQL: the steps that make it, and the store that reads and writes it.
import type { Kysely, Transaction } from 'kysely';
import type { Breaker } from './breaker.ts';
import type { EntryKinds } from '../journal/entry-kinds.ts';
import type { Indexer } from '../journal/indexer.ts';
import type { Migration as Step } from '../migrate.ts';
import type { NoticeListener } from '../notice-ports.ts';
import type { StateSchema } from '../state/tables.ts';
import type { ConversationItems } from './conversation-items.ts';
import type { LateTurns } from './late-turns.ts';
import type { PostgresStateUsage } from './state-usage.ts';

/** The tables that several stores know; others are known by their store alone, which says so by a cast. */
export type PostgresSchema = StateSchema;

export type Migration = Step<PostgresSchema>;

/** A transaction that runs. */
export type Tx = Transaction<PostgresSchema>;

/** What every store of a database is given. */
export interface PostgresBase {
  /** Builds and runs queries, each on a connection of the pool for as long as it takes. */
  readonly db: Kysely<PostgresSchema>;
  /**
   * Runs work in one transaction (read committed). It may run again when others were in its way: it has no effect but on
   * the database. What it throws undoes all of it.
   */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  /** Hears what is told on a channel, on a connection of its own. @throws GatewayError 503 */
  readonly listen: (channel: string, heard: (text: string) => void) => Promise<NoticeListener>;
  /** Knows whether the database is out of reach. */
  readonly breaker: Pick<Breaker, 'isOpen'>;
  /** For writes that an answer waits for. */
  readonly indexer: Indexer;
  /** How such writes become rows. */
  readonly entries: EntryKinds<[Tx], Promise<void>>;
  /** For what counts into the quota of a project. */
  readonly usage: PostgresStateUsage;
  readonly items: ConversationItems;
  readonly turns: LateTurns;
}

export interface PostgresStore<T> {
  /** Steps that make its tables, after all of `migrations.ts`. Names are unique; what has run is not changed any more. */
  readonly migrations?: readonly Migration[];
  /** Called once the tables are there. */
  readonly open: (base: PostgresBase) => T;
}
