// Interface between stores and databases. A store writes its queries once, as generators, and a driver runs them.
import type { CompiledQuery, Kysely, QueryExecutorProvider, RawBuilder } from 'kysely';
import type { NoticeListener } from '../../accounts/ports/index.ts';
import type { EntryWriter } from '../journal/entries.ts';
import type { Indexer } from '../journal/indexer.ts';
import type { SchemaChange } from './schema.ts';
import type { UsageCounter } from './state/state-usage.ts';
import type { Turns } from './state/turns.ts';
import type { Kind, SchemaOf, Table } from './table.ts';
import type { UnixMs } from '../../base/units.ts';

/** A query built by Kysely or `sql`. The database that runs it compiles it. */
interface Built<Row> {
  compile(database: QueryExecutorProvider): CompiledQuery<Row>;
}
export type Query<Row = unknown> = CompiledQuery<Row> | Built<Row>;

/** Compiles a query for the database that runs it. */
export function compiled<Row>(query: Query<Row>, database: QueryExecutorProvider): CompiledQuery<Row> {
  return 'compile' in query ? query.compile(database) : query;
}

/** A sequence of queries. Each `yield` runs one and returns its rows. Compose them with `yield*`. */
export type Queries<T> = Generator<Query, T, readonly object[]>;

/** Runs one query. @returns its rows */
export function* rowsOf<Row>(query: Query<Row>): Queries<readonly Row[]> {
  return (yield query) as readonly Row[];
}

/** Runs one query. @returns its first row */
export function* firstOf<Row>(query: Query<Row>): Queries<Row | undefined> {
  const [first] = yield* rowsOf(query);
  return first;
}

/**
 * Runs queries in one transaction. After a conflict with others they run again from the beginning, so that they must have no
 * effects other than on the database. A `GatewayError` that they throw rolls back only this transaction.
 * @returns their result, once it is durable
 */
export type Transact = <T>(queries: () => Queries<T>) => Promise<T>;

/** SQL that differs between the databases. */
export interface Dialect {
  /** Locks the rows of a query until the transaction ends. SQLite needs no locks, because it has one writer. */
  readonly held: <Query extends Lockable<Query>>(query: Query) => Query;
  /** As `held`, but skips rows that are locked by others. */
  readonly heldFree: <Query extends Lockable<Query>>(query: Query) => Query;
  /** End of a `select`, as `heldFree`. */
  readonly lockFree: RawBuilder<unknown>;
  /** Condition: a column has one of many values. The statement text does not depend on their number. */
  readonly among: (column: string, values: readonly (string | number)[]) => RawBuilder<boolean>;
  /** Elements of a column with a JSON array of texts, as `p.value`, for `from`. */
  readonly elements: (column: string) => RawBuilder<unknown>;
  /** Aggregate: concatenated texts of a column. */
  readonly joined: (column: string) => RawBuilder<string>;
  /** As `clock`; in SQLite as given. */
  readonly nowMs: (processMs: UnixMs) => RawBuilder<number>;
  /** Condition: one of some columns contains a text. */
  readonly contains: (columns: readonly string[], text: string) => RawBuilder<boolean>;
}

interface Lockable<Query> {
  forUpdate(): { skipLocked(): Query } & Query;
}

/** A connected database: builds, runs and combines queries. */
export interface Driver {
  readonly kind: Kind;
  readonly dialect: Dialect;
  /** Unix milliseconds by the database server's clock, because clocks of processes differ; in SQLite by this process's. */
  readonly clock: () => RawBuilder<number>;
  /** Unix milliseconds by this process's clock. */
  readonly now: () => UnixMs;
  /** Query builder for these tables. It only builds: a generator yields the queries, and the database runs them. */
  readonly on: <const Tables extends readonly Table[]>(...tables: Tables) => Kysely<SchemaOf<Tables>>;
  readonly transact: Transact;
  /** `transact` for changes that depend on writes of others. At most one runs at a time, across all processes. */
  readonly exclusively: Transact;
  /** Runs independent statements: in one transaction in SQLite, and without one in PostgreSQL. */
  readonly separately: Transact;
  /** `transact` for a single statement. */
  readonly write: <Row>(query: Query<Row>) => Promise<readonly Row[]>;
  /** Runs one query without a transaction. @returns its rows */
  readonly read: <Row>(query: Query<Row>) => Promise<readonly Row[]>;
  /** Runs one query without a transaction. @returns its first row */
  readonly readFirst: <Row>(query: Query<Row>) => Promise<Row | undefined>;
  /** Runs several queries, one by one, without a transaction. */
  readonly ask: Transact;
  /**
   * Deletes a bounded number of rows: as many as fit into one millisecond in SQLite, one statement's worth in PostgreSQL.
   * @param find finds up to a number of rows to delete; wrap it in `heldFree` if it decides alone
   * @param remove deletes the rows and their dependents
   * @returns the deleted rows; empty: none are left
   */
  readonly sweep: <Row extends object>(
    find: (limit: number) => Query<Row>,
    remove: (rows: readonly Row[]) => Queries<unknown>,
  ) => Promise<readonly Row[]>;
}

/** A database as seen by its stores: a driver with a journal. */
export interface Database extends Driver {
  /** Indexer for writes that an answer waits for. They are durable in the journal when `append` returns, and soon in tables. */
  readonly indexer: Indexer;
  /** Registers how journal entries of a kind become rows, within the indexer's transaction. Must be idempotent. */
  readonly onEntries: <T>(kind: number, writer: EntryWriter<T>) => void;
}

/** A database for stores of turns, or with quotas. */
export interface StateDatabase extends Database {
  readonly usage: UsageCounter;
  readonly turns: Turns;
}

/** A database that several machines share. */
export interface SharedDatabase extends StateDatabase {
  /** Subscribes to a channel, on a separate connection. @throws GatewayError 503 */
  readonly listen: (channel: string, received: (text: string) => void) => Promise<NoticeListener>;
}

/** A store: its tables, and its queries. @typeParam On database that it needs */
export interface Store<T, On extends StateDatabase = StateDatabase> {
  /** Tables that belong to this store. A store may also use those of others. */
  readonly tables?: readonly Table[];
  /** Changes of tables that were created in an earlier schema version. */
  readonly changes?: readonly SchemaChange[];
  /** Called once the tables exist. */
  readonly open: (database: On) => T;
}
