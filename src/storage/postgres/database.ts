// Runs queries of stores in PostgreSQL, each when the one before it is answered.
import { type Kysely, sql } from 'kysely';
import { compiled, type Database, type Dialect, type Queries } from '../tables/database.ts';
import type { SchemaOf, Table } from '../tables/table.ts';
import type { Indexer } from '../journal/indexer.ts';
import type { PostgresBase, PostgresEntries, PostgresSchema } from './store.ts';

/** Names the lock of `exclusively`: any number that nobody else takes in this database. */
const CHANGE_LOCK = 7_283_641_095_518_338;
/** Rows that `sweep` deletes in one transaction. */
const SWEPT_ROWS = 500;

const DIALECT: Dialect = {
  held: (query) => query.forUpdate(),
  heldFree: (query) => query.forUpdate().skipLocked(),
  among: (column, values) => sql<boolean>`${sql.ref(column)} = any(${values})`,
  elements: (column) => sql`jsonb_array_elements_text(${sql.ref(column)}::jsonb) as p(value)`,
  joined: (column) => sql<string>`string_agg(${sql.ref(column)}, '')`,
  nowMs: () => sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  contains: (columns, text) =>
    sql<boolean>`(${sql.join(
      columns.map((column) => sql`strpos(${sql.ref(column)}, ${text}) > 0`),
      sql` or `,
    )})`,
};

/** Runs queries inside a transaction that runs already, or one by one on connections of the pool. */
export async function runQueries<T>(db: Kysely<PostgresSchema>, queries: Queries<T>): Promise<T> {
  let asked = queries.next([]);
  while (!asked.done)
    asked = queries.next((await db.executeQuery(compiled(asked.value, db))).rows as object[]);
  return asked.value;
}

export function postgresDatabase({
  db,
  transaction,
  indexer,
  entries,
}: Pick<PostgresBase, 'db' | 'transaction'> & {
  readonly indexer: Indexer;
  readonly entries: PostgresEntries;
}): Database {
  return {
    kind: 'postgres',
    dialect: DIALECT,
    now: Date.now,
    on: <const Tables extends readonly Table[]>() => db as unknown as Kysely<SchemaOf<Tables>>,
    transact: (queries) => transaction((tx) => runQueries(tx, queries())),
    exclusively: (queries) =>
      transaction(async (tx) => {
        await sql`select pg_advisory_xact_lock(${CHANGE_LOCK})`.execute(tx);
        return runQueries(tx, queries());
      }),
    write: async (query) => (await db.executeQuery(compiled(query, db))).rows,
    separately: (queries) => runQueries(db, queries()),
    ask: (queries) => runQueries(db, queries()),
    sweep: (find, remove) =>
      transaction(async (tx) => {
        const { rows } = await tx.executeQuery(compiled(find(SWEPT_ROWS), tx));
        if (rows.length > 0) await runQueries(tx, remove(rows));
        return rows.length;
      }),
    indexer,
    onEntries: (kind, { read, write }) =>
      entries.register(kind, { read, write: (rows, tx) => runQueries(tx, write(rows)) }),
  };
}
