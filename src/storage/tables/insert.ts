// Inserts rows, many at once, by statements that are worded once: SQLite takes a few rows with each prepared statement, PostgreSQL
// an array for each column.
import { CompiledQuery } from 'kysely';
import type { Database, Queries } from './database.ts';
import { castType, columnsOf, quoted, rowColumn, type TableDeclaration } from './table.ts';

/** Rows of one statement of SQLite: each then costs about half of what it costs alone. */
const SQLITE_ROWS = 16;
/** Rows of one statement of PostgreSQL, and about the most bytes of them. */
const MOST_ROWS = 1_000;
const MOST_BYTES = 4_000_000;

export interface InsertOptions {
  /** Columns to write. Absent: all but the number that the database gives. */
  readonly columns?: readonly string[];
  /**
   * Fate of a row that is there already: it stays as it is, takes the new values of some columns, or grows: the columns that are not
   * `on` are added to it, texts behind its own. Absent: an error.
   */
  readonly conflict?: { readonly on: readonly string[]; readonly update?: readonly string[] | 'grow' };
  /** Columns to give back of the rows that were written. */
  readonly returning?: readonly string[];
}

/** A row to insert, by its columns. Texts may be bytes in UTF-8. */
export type NewRow = Readonly<Record<string, unknown>>;

/** The values of a row, in the order of the columns to write. */
export type NewValues = readonly unknown[];

type Insert<Row, Returned> = (rows: readonly Row[]) => Queries<readonly Returned[]>;

/** Makes what inserts rows into a table, in their order. */
export function inserter<Returned extends object = object>(
  { kind }: Pick<Database, 'kind'>,
  declared: TableDeclaration,
  options: InsertOptions = {},
): Insert<NewRow, Returned> {
  const columns = writtenOf(declared, options);
  const insert = valuesInserter<Returned>({ kind }, declared, options);
  return (rows) => insert(rows.map((row) => columns.map((name) => row[name])));
}

/** The same for rows as lists of values. */
export function valuesInserter<Returned extends object = object>(
  { kind }: Pick<Database, 'kind'>,
  declared: TableDeclaration,
  options: InsertOptions = {},
): Insert<NewValues, Returned> {
  const columns = writtenOf(declared, options);
  const types = columns.map((name) => castType(kind, declared.columns[name] ?? 'text'));
  const head = `insert into ${quoted(declared.name)} (${listOf(columns)})`;
  const tail = tailOf(declared, columns, options);
  const insert = kind === 'sqlite' ? inSqlite(head, types, tail) : inPostgres(head, types, tail, declared);
  return insert as Insert<NewValues, Returned>;
}

/**
 * Makes what inserts the rows whose key is not there yet, and gives the keys of those. No key may stand among the rows twice.
 * SQLite looks first, inside a transaction that nobody else writes beside: `returning` fills a table of its own for each statement
 * (8.4 in place of 9.7 microseconds a record, measured 2026-11).
 */
export function newInserter<Returned extends object>(
  { kind }: Pick<Database, 'kind'>,
  declared: TableDeclaration,
  key: string,
): Insert<NewValues, Returned> {
  if (kind === 'postgres')
    return valuesInserter({ kind }, declared, { conflict: { on: [key] }, returning: [key] });
  const place = columnsOf(declared).indexOf(key);
  const insert = valuesInserter({ kind }, declared);
  const places = Array.from({ length: SQLITE_ROWS }, () => '?').join(', ');
  const look = `select ${quoted(key)} as found from ${quoted(declared.name)} where ${quoted(key)} in (${places})`;
  return function* (rows) {
    const there: unknown[] = [];
    for (let from = 0; from < rows.length; from += SQLITE_ROWS) {
      const keys = Array.from(
        { length: SQLITE_ROWS },
        (_, at) => rows[Math.min(from + at, rows.length - 1)]?.[place],
      );
      there.push(...(yield asked(look, keys)));
    }
    const known = new Set((there as { readonly found: unknown }[]).map(({ found }) => textOf(found)));
    const added = known.size === 0 ? rows : rows.filter((row) => !known.has(textOf(row[place])));
    yield* insert(added);
    return added.map((row) => ({ [key]: row[place] })) as unknown as readonly Returned[];
  };
}

/** Keys are compared as texts. */
function textOf(key: unknown): string {
  return key instanceof Uint8Array ? Buffer.from(key).toString('latin1') : String(key);
}

function writtenOf(declared: TableDeclaration, { columns }: InsertOptions): readonly string[] {
  return columns ?? columnsOf(declared).filter((name) => name !== rowColumn(declared));
}

function inSqlite(head: string, types: readonly string[], tail: string): Insert<NewValues, object> {
  const place = `(${types.map((type) => (type === 'text' ? 'cast(? as text)' : '?')).join(', ')})`;
  const textOf = (rows: number): string =>
    `${head} values ${Array.from({ length: rows }, () => place).join(', ')} ${tail}`;
  const [many, one] = [textOf(SQLITE_ROWS), textOf(1)];
  return function* (rows) {
    const found: object[] = [];
    let from = 0;
    for (; from + SQLITE_ROWS <= rows.length; from += SQLITE_ROWS)
      found.push(...(yield asked(many, valuesOf(rows, from, from + SQLITE_ROWS))));
    for (; from < rows.length; from += 1) found.push(...(yield asked(one, rows[from] ?? [])));
    return found;
  };
}

function inPostgres(
  head: string,
  types: readonly string[],
  tail: string,
  declared: TableDeclaration,
): Insert<NewValues, object> {
  const arrays = types.map((type, at) => `$${at + 1}::${type}[]`).join(', ');
  const names = types.map((_, at) => `c${at}`).join(', ');
  // The database numbers rows in the order in which it gets them.
  const text =
    rowColumn(declared) === undefined
      ? `${head} select * from unnest(${arrays}) ${tail}`
      : `${head} overriding system value select ${names} from unnest(${arrays}) with ordinality as r(${names}, place)
         order by place ${tail}`;
  return function* (rows) {
    const found: object[] = [];
    for (const piece of piecesOf(rows))
      found.push(
        ...(yield asked(
          text,
          types.map((type, at) => piece.map((row) => sendable(row[at], type))),
        )),
      );
    return found;
  };
}

const RAW = CompiledQuery.raw('');

/** Makes a query as `CompiledQuery.raw` does, which takes longer than the insert: it freezes the values. */
function asked(text: string, parameters: NewValues): CompiledQuery {
  return { ...RAW, sql: text, parameters };
}

function valuesOf(rows: readonly NewValues[], from: number, to: number): NewValues {
  const values: unknown[] = [];
  for (let at = from; at < to; at += 1) {
    const row = rows[at] ?? [];
    for (const value of row) values.push(value);
  }
  return values;
}

function tailOf(
  declared: TableDeclaration,
  columns: readonly string[],
  { conflict, returning = [] }: InsertOptions,
): string {
  const given = returning.length > 0 ? `returning ${listOf(returning)}` : '';
  if (!conflict) return given;
  const { on, update } = conflict;
  const begin = `on conflict (${listOf(on)}) do`;
  if (!update) return `${begin} nothing ${given}`;
  const changes =
    update === 'grow'
      ? columns.filter((name) => !on.includes(name)).map((name) => [name, grown(declared, name)])
      : update.map((name) => [name, `excluded.${quoted(name)}`]);
  const set = changes.map(([name = '', value = '']) => `${quoted(name)} = ${value}`).join(', ');
  return `${begin} update set ${set} ${given}`;
}

function grown({ name: table, columns }: TableDeclaration, column: string): string {
  const added = columns[column] === 'text' ? '||' : '+';
  return `${quoted(table)}.${quoted(column)} ${added} excluded.${quoted(column)}`;
}

function listOf(columns: readonly string[]): string {
  return columns.map(quoted).join(', ');
}

/** A value as the driver of PostgreSQL takes it within a list. */
function sendable(value: unknown, type: string): unknown {
  if (value instanceof Uint8Array) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return type === 'text' ? bytes.toString() : bytes;
  }
  return typeof value === 'string' ? value.toWellFormed() : (value ?? null);
}

/** The rows in pieces of one statement each. */
function* piecesOf(rows: readonly NewValues[]): Generator<readonly NewValues[]> {
  let piece: NewValues[] = [];
  let bytes = 0;
  for (const row of rows) {
    piece.push(row);
    for (const value of row)
      bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8;
    if (piece.length < MOST_ROWS && bytes < MOST_BYTES) continue;
    yield piece;
    piece = [];
    bytes = 0;
  }
  if (piece.length > 0) yield piece;
}
