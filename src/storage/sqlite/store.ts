// What a table is made of: the steps that make it, and the store that reads and writes it.
import type { Kysely } from 'kysely';
import type { SqlConnection } from '../../runtime/sqlite.ts';
import type { SqliteNames } from './names.ts';
import type { ConversationItems } from './conversation-items.ts';
import type { GroupCommit } from './group-commit.ts';
import type { EntryKinds } from '../journal/entry-kinds.ts';
import type { Indexer } from '../journal/indexer.ts';
import type { Migration } from './migrations.ts';
import type { Schema } from './schema.ts';
import type { ShortSteps } from './short-steps.ts';
import type { SqliteStateUsage } from './state-usage.ts';

/** What every store of a database is given. */
export interface SqliteBase {
  readonly connection: SqlConnection;
  /** Builds queries. */
  readonly db: Kysely<Schema>;
  /** For writes that may share a transaction with those of other stores. */
  readonly commits: GroupCommit;
  /** For deletions of much. */
  readonly steps: ShortSteps;
  /** For writes that an answer waits for. */
  readonly indexer: Indexer;
  /** How such writes become rows. */
  readonly entries: EntryKinds<[], void>;
  readonly names: SqliteNames;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** For what counts into the quota of a project. */
  readonly usage: SqliteStateUsage;
  readonly items: ConversationItems;
  /** Has something done before the database is closed, once all entries are in it. */
  readonly beforeClose: (task: () => Promise<void>) => void;
}

export interface SqliteStore<T> {
  /** Steps that make its tables, after all of `migrations.ts`. Names are unique; what has run is not changed any more. */
  readonly migrations?: readonly Migration[];
  /** Called once the tables are there. Prepares its statements: a wrong table is met at the start. */
  readonly open: (base: SqliteBase) => T;
}
