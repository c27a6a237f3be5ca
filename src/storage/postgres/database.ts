// Runs the queries of stores in PostgreSQL, one after another.
import { type Kysely, sql, type Transaction } from 'kysely';
import { compiled, type Dialect, type Driver, firstOf, type Queries, rowsOf } from '../tables/database.ts';
import type { SchemaOf, Table } from '../tables/table.ts';
import { GatewayError } from '../../canonical/index.ts';
import { isRepeatable } from './failures.ts';

/** Advisory lock of `exclusively`. Any number that is otherwise unused in the database. */
const CHANGE_LOCK = 7_283_641_095_518_338;
/** Rows that `sweep` deletes per transaction. */
const SWEPT_ROWS = 500;

const DIALECT: Dialect = {
  held: (query) => query.forUpdate(),
  heldFree: (query) => query.forUpdate().skipLocked(),
  lockFree: sql`for update skip locked`,
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

/** Runs queries inside the given transaction, or each on a connection of the pool. */
async function runQueries<T>(db: Kysely<never>, queries: Queries<T>): Promise<T> {
  let asked = queries.next([]);
  while (!asked.done)
    asked = queries.next((await db.executeQuery(compiled(asked.value, db))).rows as object[]);
  return asked.value;
}

export function postgresDriver(db: Kysely<never>): Driver {
  const transact: Driver['transact'] = (queries) => inTransaction(db, (tx) => runQueries(tx, queries()));
  return {
    kind: 'postgres',
    dialect: DIALECT,
    clock: () => DIALECT.nowMs(0),
    now: Date.now,
    on: <const Tables extends readonly Table[]>() => db as unknown as Kysely<SchemaOf<Tables>>,
    transact,
    exclusively: (queries) =>
      transact(function* () {
        yield sql`select pg_advisory_xact_lock(${CHANGE_LOCK})`;
        return yield* queries();
      }),
    write: (query) => runQueries(db, rowsOf(query)),
    read: (query) => runQueries(db, rowsOf(query)),
    readFirst: (query) => runQueries(db, firstOf(query)),
    separately: (queries) => runQueries(db, queries()),
    ask: (queries) => runQueries(db, queries()),
    sweep: (find, remove) =>
      transact(function* () {
        const rows = yield* rowsOf(find(SWEPT_ROWS));
        if (rows.length > 0) yield* remove(rows);
        return rows;
      }),
  };
}

// The schema that holds the tables. It is determined once, so that connections search no other schema: those of a
// `search_path` may belong to others, or be created later (`"$user"`).

interface Found {
  /** Null: the path contains no existing schema. */
  readonly name: string | null;
  readonly path: string | null;
  readonly is_open: boolean | null;
}

/**
 * Functions are qualified with their schema, because other schemas may contain better matches for these arguments
 * (PostgreSQL 16, "Function Type Resolution").
 */
const FOUND = sql<Found>`
  select current_schema as name,
    pg_catalog.quote_ident(current_schema::pg_catalog.text) operator(pg_catalog.||) ', pg_temp' as path,
    pg_catalog.has_schema_privilege('public', current_schema::pg_catalog.text, 'create') as is_open`;

/**
 * Restricts the `search_path` of the current transaction to the schema in which tables are created.
 * @param notice called if every database user may create tables and functions there
 * @returns the path, for other connections
 * @throws GatewayError `internal` if there is no such schema
 */
export function* ownSchema(notice: (sentence: string) => void): Queries<string> {
  const found = yield* firstOf(FOUND);
  const { name, path, is_open: isOpen } = found ?? { name: null, path: null, is_open: null };
  if (name === null || path === null)
    throw new GatewayError(
      'internal',
      'the database at database_url cannot be used: no schema of its search_path exists. Create the schema, or set another one (?options=-c%20search_path%3Dname).',
    );
  if (isOpen)
    notice(
      `every database user can create functions in the schema ${JSON.stringify(name)} and have the gateway run them. Run: revoke create on schema ${path.slice(0, -', pg_temp'.length)} from public`,
    );
  yield sql`select pg_catalog.set_config('search_path', ${path}, true)`;
  return path;
}

// Retries of transactions that conflict with others.

/** Maximum number of attempts. */
const ROUNDS = 6;
/** Maximum wait before the second attempt, in milliseconds. Doubled for each further attempt. */
const PAUSE_MS = 10;

/**
 * Runs work in a transaction, and again from the beginning after a deadlock or conflict. It must have no other effects.
 */
async function inTransaction<T>(db: Kysely<never>, work: (tx: Transaction<never>) => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (round === ROUNDS || !isRepeatable(error)) throw error;
      // Random, so that conflicting transactions do not collide again.
      const most = PAUSE_MS * 2 ** (round - 1);
      await new Promise((resolve) => void setTimeout(resolve, Math.random() * most));
    }
  }
}
