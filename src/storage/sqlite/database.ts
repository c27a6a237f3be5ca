// Runs the queries of stores in SQLite. They are synchronous, so that a transaction is one write of a group commit.
import { DummyDriver, Kysely, sql, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { SqlConnection, SqlValue } from '../../base/runtime/sqlite.ts';
import {
  compiled,
  type Dialect,
  type Driver,
  firstOf,
  type Queries,
  type Query,
  rowsOf as rowsIn,
  type StateDatabase,
} from '../tables/database.ts';
import type { SchemaOf, Table } from '../tables/table.ts';
import type { GroupCommit } from './group-commit.ts';
import type { ShortSteps } from './short-steps.ts';
import type { UnixMs } from '../../base/units.ts';

/** Rows that `sweep` selects per query. */
const SWEPT_ROWS = 50;
const NO_ROWS: readonly object[] = [];

const DIALECT: Dialect = {
  held: (query) => query,
  heldFree: (query) => query,
  lockFree: sql``,
  among: (column, values) => sql<boolean>`${sql.ref(column)} in (select value from json_each(${values}))`,
  elements: (column) => sql`json_each(${sql.ref(column)}) as p`,
  joined: (column) => sql<string>`group_concat(${sql.ref(column)}, '')`,
  nowMs: (processMs) => sql<number>`${processMs}`,
  contains: (columns, text) =>
    sql<boolean>`(${sql.join(
      columns.map((column) => sql`instr(${sql.ref(column)}, ${text}) > 0`),
      sql` or `,
    )})`,
};

/** Builds queries and compiles them. The connection runs them. */
const BUILDER = new Kysely<never>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

interface Parts {
  readonly connection: SqlConnection;
  /** Group commit, for writes that can share a transaction with those of other stores. */
  readonly commits: GroupCommit;
  /** Large deletions, in short steps. */
  readonly steps: ShortSteps;
  readonly now: () => UnixMs;
}

export interface SqliteDriver extends Driver {
  /** Runs queries at once, inside the current transaction if there is one. */
  readonly run: <T>(queries: Queries<T>) => T;
}

/** A database whose connection can be used directly. */
export interface SqliteDatabase extends StateDatabase {
  readonly connection: SqlConnection;
}

export function sqliteDriver({ connection, commits, steps, now }: Parts): SqliteDriver {
  const rowsOf = (query: Query): readonly object[] => {
    const { sql: text, parameters } = compiled(query, BUILDER);
    const statement = connection.prepare(text);
    const values = bindable(parameters);
    if (statement.reader) return statement.all(...values);
    statement.run(...values);
    return NO_ROWS;
  };
  const run = <T>(queries: Queries<T>): T => {
    let asked = queries.next([]);
    while (!asked.done) asked = queries.next(rowsOf(asked.value));
    return asked.value;
  };
  const transact: Driver['transact'] = (queries) => commits.run(() => run(queries()));
  return {
    kind: 'sqlite',
    dialect: DIALECT,
    clock: () => DIALECT.nowMs(now()),
    now,
    run,
    on: <const Tables extends readonly Table[]>() => BUILDER as unknown as Kysely<SchemaOf<Tables>>,
    transact,
    exclusively: transact,
    separately: transact,
    write: (query) => transact(() => rowsIn(query)),
    read: async (query) => run(rowsIn(query)),
    readFirst: async (query) => run(firstOf(query)),
    ask: async (queries) => run(queries()),
    async sweep(find, remove) {
      // Checked before the transaction, which would have to wait for other processes: usually there is nothing to
      // delete.
      if (rowsOf(find(1)).length === 0) return [];
      return steps.run(function* () {
        for (const row of run(rowsIn(find(SWEPT_ROWS)))) {
          run(remove([row]));
          yield row;
        }
      });
    },
  };
}

/** Binds lists as JSON. */
function bindable(values: readonly unknown[]): readonly SqlValue[] {
  const isPlain = !values.some(Array.isArray);
  return (
    isPlain ? values : values.map((value) => (Array.isArray(value) ? JSON.stringify(value) : value))
  ) as readonly SqlValue[];
}
