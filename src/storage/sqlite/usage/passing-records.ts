// Records that pass what their rows have columns for, a bounded number of rows at a time: SQLite looks, and only what passes is
// read. Records of one key, and of one status other than 200, are found by an index.
import { type Kysely, sql } from 'kysely';
import type { SqlConnection, SqlStatement, SqlValue } from '../../../runtime/sqlite.ts';
import type { Migration } from '../migrations.ts';
import type { RecordTable, Schema } from '../schema.ts';
import type { SqliteBase } from '../store.ts';

/** Rows that are looked at in one go: about a millisecond. */
const LOOKED_AT = 1_000;
/** Of them, rows that are read. */
const MOST = 200;

/** Each lets through what is in its list; absent: everything. Names are numbers. */
export interface ColumnFilters {
  readonly key?: readonly number[] | undefined;
  readonly model?: readonly number[] | undefined;
  readonly provider?: readonly number[] | undefined;
  readonly status?: readonly number[] | undefined;
  /** USD, and more. */
  readonly minCostUsd?: number | undefined;
}

export interface PassingRows {
  readonly rows: readonly RecordTable[];
  /** How far it has looked: up to this id (`asc`, not with it), or down to it (`desc`, with it). Null: all there was. */
  readonly end: Uint8Array | null;
}

const LISTS = ['key', 'model', 'provider', 'status'] as const;
type Listed = (typeof LISTS)[number];

/** What most records have: an index of it would be as long as the table. */
const USUAL_STATUS = 200;

export const PASSING_MIGRATIONS: readonly Migration[] = [
  {
    name: 'records by their status, where it is not the usual one',
    isAdditive: true,
    up: (db) =>
      db.schema
        .createIndex('records_by_status')
        .on('records')
        .column('status')
        .where('status', '!=', sql.lit(USUAL_STATUS))
        .execute(),
  },
];

/** Statements of one question, whatever its values are. */
interface Statements {
  /** Binds what the index has, two ids. Gives the id at which a look ends. */
  readonly end: SqlStatement;
  /** Binds the same, and the other values. */
  readonly rows: SqlStatement;
}

export class PassingRecords {
  readonly #connection: SqlConnection;
  readonly #db: Kysely<Schema>;
  readonly #statements = new Map<string, Statements>();

  constructor({ connection, db }: Pick<SqliteBase, 'connection' | 'db'>) {
    this.#connection = connection;
    this.#db = db;
  }

  /** What passes of the first or last rows with ids from the first on and before the second. */
  look(filters: ColumnFilters, from: Uint8Array, to: Uint8Array, order: 'asc' | 'desc'): PassingRows {
    const statements = this.#prepared(filters, order);
    const indexed = indexedBy(filters);
    const span: SqlValue[] = [...(indexed ? (filters[indexed] ?? []) : []), from, to];
    const bound = statements.end.all(...span)[0]?.['id'] as Uint8Array | undefined;
    if (bound) span[order === 'asc' ? span.length - 1 : span.length - 2] = bound;
    const rows = statements.rows.all(...span, ...valuesOf(filters)) as object[] as RecordTable[];
    const last = rows.length === MOST ? rows.at(-1)?.id : undefined;
    if (!(last instanceof Uint8Array)) return { rows, end: bound ?? null };
    return { rows, end: order === 'asc' ? Buffer.concat([last, new Uint8Array(1)]) : last };
  }

  #prepared(filters: ColumnFilters, order: 'asc' | 'desc'): Statements {
    const asked = LISTS.filter((name) => filters[name]).join();
    const name = [order, indexedBy(filters), asked, filters.minCostUsd !== undefined].join();
    let statements = this.#statements.get(name);
    if (!statements) this.#statements.set(name, (statements = this.#prepare(filters, order)));
    return statements;
  }

  #prepare(filters: ColumnFilters, order: 'asc' | 'desc'): Statements {
    let within = this.#db.selectFrom('records');
    const indexed = indexedBy(filters);
    if (indexed) within = within.where(indexed, '=', 0);
    if (indexed === 'status') within = within.where('status', '!=', sql.lit(USUAL_STATUS));
    within = within.where('id', '>=', '').where('id', '<', '').orderBy('id', order);
    // Upwards the bound is the first that is not looked at, downwards the last that is.
    const end = within
      .select('id')
      .limit(sql.lit(1))
      .offset(sql.lit(order === 'asc' ? LOOKED_AT : LOOKED_AT - 1));
    let rows = within.selectAll().limit(sql.lit(MOST));
    for (const column of listsOf(filters))
      rows = rows.where(column, 'in', sql<number>`(select value from json_each(${''}))`);
    if (filters.minCostUsd !== undefined) rows = rows.where('cost_usd', '>=', 0);
    return {
      end: this.#connection.prepare(end.compile().sql),
      rows: this.#connection.prepare(rows.compile().sql),
    };
  }
}

/** The column by which the records are found; undefined: by their ids alone. */
export function indexedBy({ key, status }: ColumnFilters): 'key' | 'status' | undefined {
  if (status?.length === 1 && status[0] !== USUAL_STATUS) return 'status';
  return key?.length === 1 ? 'key' : undefined;
}

/** Columns whose values are bound as lists, in this order. */
function listsOf(filters: ColumnFilters): readonly Listed[] {
  return LISTS.filter((name) => filters[name] && name !== indexedBy(filters));
}

function valuesOf(filters: ColumnFilters): readonly SqlValue[] {
  const lists = listsOf(filters).map((name) => JSON.stringify(filters[name]));
  return filters.minCostUsd === undefined ? lists : [...lists, filters.minCostUsd];
}
