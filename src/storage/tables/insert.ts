// Inserts many rows with cached statements. SQLite inserts several rows per prepared statement, PostgreSQL takes one array
// per column.
import { CompiledQuery } from 'kysely';
import type { Database, Queries } from './database.ts';
import { castType, columnsOf, quoted, rowColumn, type TableDeclaration } from './table.ts';

/** Rows per statement in SQLite, which halves the cost per row. */
const SQLITE_ROWS = 16;
/** Maximum rows per statement in PostgreSQL, and their approximate maximum size in bytes. */
const MOST_ROWS = 1_000;
const MOST_BYTES = 4_000_000;

export interface InsertOptions {
  /** Columns to write. Absent: all but the row number. */
  readonly columns?: readonly string[];
  /**
   * Handling of existing rows: they stay unchanged, take the new values of some columns (`update`), or grow: numbers are
   * added and texts appended in all columns but `on`. Absent: an error.
   */
  readonly conflict?: { readonly on: readonly string[]; readonly update?: readonly string[] | 'grow' };
  /** Columns to return from written rows. */
  readonly returning?: readonly string[];
}

/** A row to insert, by column. Texts may be given as UTF-8 bytes. */
export type NewRow = Readonly<Record<string, unknown>>;

/** Values of a row, in order of the written columns. */
export type NewValues = readonly unknown[];

type Insert<Row, Returned> = (rows: readonly Row[]) => Queries<readonly Returned[]>;

/** Creates a function that inserts rows into a table in order. */
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
 * Creates a function that inserts rows with new keys, and returns those keys. Keys must be unique among the rows. SQLite
 * first selects existing keys, which is safe with a single writer and faster than `returning`, which fills a temporary table
 * (8.4 instead of 9.7 µs per record, measured 2026-11).
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

/** Text of a key, for comparison. */
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
  // The database numbers rows in order of insertion.
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

/** As `CompiledQuery.raw`, which freezes the values and so takes longer than the insert itself. */
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

/** Converts a value for an array parameter of the PostgreSQL driver. */
function sendable(value: unknown, type: string): unknown {
  if (value instanceof Uint8Array) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return type === 'text' ? bytes.toString() : bytes;
  }
  return typeof value === 'string' ? value.toWellFormed() : (value ?? null);
}

/** Splits rows into pieces for one statement each. */
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
