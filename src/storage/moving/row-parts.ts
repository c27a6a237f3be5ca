// Tables that are the same in both databases, row by row.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { SqlRow } from '../../runtime/sqlite.ts';
import type { PostgresBase } from '../postgres/store.ts';
import type { Part } from './part.ts';
import { columnsOf, countRows, readPiece } from './pieces.ts';
import type { Source } from './source.ts';
import { MOVED_TABLES, type MovedTable } from './tables.ts';

/** Types whose values may be large. */
const LARGE: ReadonlySet<string> = new Set(['text', 'bytea']);

/** Parts for all of them. @throws GatewayError `internal` for a column that has no place in the other database */
export async function rowParts(source: Source, { db }: Pick<PostgresBase, 'db'>): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const table of MOVED_TABLES) {
    const columns = columnsOf(source, table.name);
    const types = await typesOf(db, table.name);
    const homeless = columns.filter((column) => !types.has(column));
    if (homeless.length > 0)
      throw new GatewayError(
        'internal',
        `${table.name}: the other database has no column for ${homeless.join(', ')}`,
      );
    parts.push(rowPart(source, table, columns, types));
  }
  return parts;
}

/** The type of each column. */
export async function typesOf(db: PostgresBase['db'], table: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ name: string; type: string }>`
    select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped`.execute(db);
  return new Map(rows.map(({ name, type }) => [name, type]));
}

function rowPart(
  source: Source,
  { name, keys }: MovedTable,
  columns: readonly string[],
  types: ReadonlyMap<string, string>,
): Part {
  const large = columns.filter((column) => LARGE.has(types.get(column) ?? '') && !keys.includes(column));
  const list = sql.join(columns.map((column) => sql.ref(column)));
  return {
    name,
    total: () => countRows(source, name),
    next(after) {
      const piece = readPiece(source, { table: name, keys, large }, after);
      return (
        piece && {
          rows: piece.rows.length,
          cursor: piece.cursor,
          async write(tx) {
            const values = columns.map(
              (column) =>
                sql`${piece.rows.map((row) => valueOf(row, column))}::${sql.raw(types.get(column) ?? '')}[]`,
            );
            await sql`
              insert into ${sql.table(name)} (${list}) overriding system value
              select * from unnest(${sql.join(values)})`.execute(tx);
          },
        }
      );
    },
  };
}

/** As the driver takes it within an array. */
function valueOf(row: SqlRow, column: string): unknown {
  const value = row[column] ?? null;
  if (value instanceof Uint8Array) return Buffer.from(value);
  return typeof value === 'string' ? value.toWellFormed() : value;
}
