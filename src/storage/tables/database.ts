// The seam between stores and databases. A store writes its queries once, as generators; a driver runs them.
import type { CompiledQuery, Kysely, QueryExecutorProvider, RawBuilder } from 'kysely';
import type { EntryWriter } from '../journal/entries.ts';
import type { Indexer } from '../journal/indexer.ts';
import type { SchemaChange } from './schema.ts';
import type { UsageCounter } from './state-usage.ts';
import type { Turns } from './turns.ts';
import type { Kind, SchemaOf, Table } from './table.ts';
import type { UnixMs } from '../../base/units.ts';

/** A query as Kysely builds it, or as `sql` has it. The database that runs it compiles it. */
interface Built<Row> {
  compile(database: QueryExecutorProvider): CompiledQuery<Row>;
}
export type Query<Row = unknown> = CompiledQuery<Row> | Built<Row>;

/** The text and the values of a query, for the database that runs it. */
export function compiled<Row>(query: Query<Row>, database: QueryExecutorProvider): CompiledQuery<Row> {
  return 'compile' in query ? query.compile(database) : query;
}

/** Asks one query after another; each `yield` gives the rows of its own. Compose them with `yield*`. */
export type Queries<T> = Generator<Query, T, readonly object[]>;

/** Asks one query; gives its rows. */
export function* rowsOf<Row>(query: Query<Row>): Queries<readonly Row[]> {
  return (yield query) as readonly Row[];
}

/** Asks one query; gives its first row. */
export function* firstOf<Row>(query: Query<Row>): Queries<Row | undefined> {
  const [first] = yield* rowsOf(query);
  return first;
}

/**
 * Runs queries in one transaction: all of them happened, or none. They may run again from the beginning when others were in
 * their way, and have no effect but on the database. A `GatewayError` that they throw undoes this transaction alone.
 * @returns what they returned, once that is durable
 */
export type Transact = <T>(queries: () => Queries<T>) => Promise<T>;

/** SQL that the databases word differently. */
export interface Dialect {
  /** Holds the rows of a query until the transaction ends. SQLite's transactions are alone anyway. */
  readonly held: <Query extends Lockable<Query>>(query: Query) => Query;
  /** As `held`; passes over rows that somebody else holds. */
  readonly heldFree: <Query extends Lockable<Query>>(query: Query) => Query;
  /** Condition: a column has one of many values. The statement is the same for any number of them. */
  readonly among: (column: string, values: readonly (string | number)[]) => RawBuilder<boolean>;
  /** The elements of a column with a JSON array of texts, as `p.value`, for `from`. */
  readonly elements: (column: string) => RawBuilder<unknown>;
  /** The texts of a column, one behind the other. */
  readonly joined: (column: string) => RawBuilder<string>;
  /** Unix milliseconds: by the clock of a server, since those of processes differ; else as given. */
  readonly nowMs: (processMs: UnixMs) => RawBuilder<number>;
  /** Condition: one of some columns contains a text. */
  readonly contains: (columns: readonly string[], text: string) => RawBuilder<boolean>;
}

interface Lockable<Query> {
  forUpdate(): { skipLocked(): Query } & Query;
}

/** A database as its stores see it. */
export interface Database {
  readonly kind: Kind;
  readonly dialect: Dialect;
  /** Unix milliseconds, by the clock of this process. */
  readonly now: () => UnixMs;
  /** Builds queries over these tables. Builds only: a generator yields them, and the database runs them. */
  readonly on: <const Tables extends readonly Table[]>(...tables: Tables) => Kysely<SchemaOf<Tables>>;
  readonly transact: Transact;
  /** `transact` for changes that depend on what others write: no two of these run at once, over all processes. */
  readonly exclusively: Transact;
  /** Runs statements of which each may stand alone: in SQLite one transaction, in PostgreSQL none around them. */
  readonly separately: Transact;
  /** `transact` for one statement, which is a transaction by itself. */
  readonly write: <Row>(query: Query<Row>) => Promise<readonly Row[]>;
  /** Runs queries that only read, without a transaction. */
  readonly ask: Transact;
  /**
   * Deletes a bounded number of rows: as many as a millisecond allows in SQLite, one statement's worth in PostgreSQL.
   * @param find gives at most so many rows that may go; wrap it in `heldFree` where it decides
   * @param remove deletes them, and what belongs to them
   * @returns how many rows; 0 when none is left
   */
  readonly sweep: <Row extends object>(
    find: (limit: number) => Query<Row>,
    remove: (rows: readonly Row[]) => Queries<unknown>,
  ) => Promise<number>;
  /** Indexer for writes that an answer waits for: durable in the journal when `append` returns, in the tables soon after. */
  readonly indexer: Indexer;
  /** Says how entries of a kind become rows, inside the indexer's transaction. It may run again: what is there changes nothing. */
  readonly onEntries: <T>(kind: number, writer: EntryWriter<T, [], Queries<void>>) => void;
}

/** A database as stores see it whose rows belong to turns, or count into quotas. */
export interface StateDatabase extends Database {
  readonly usage: UsageCounter;
  readonly turns: Turns;
}

/** A store: its tables, and what reads and writes them. */
export interface Store<T> {
  readonly tables: readonly Table[];
  /** Changes of tables that were made in an earlier schema version. */
  readonly changes?: readonly SchemaChange[];
  /** Called once the tables are there. */
  readonly open: (database: StateDatabase) => T;
}
