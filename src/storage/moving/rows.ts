// Moves the rows of tables, which have the same columns in both databases. Rows are moved in the order of their keys, so
// that the last row in the target tells where a move continues.
import { type RawBuilder, sql } from 'kysely';
import type { Part } from './move.ts';
import type { Source } from './source.ts';
import { columnsOf, isText, quoted, type TableDeclaration } from '../tables/table.ts';
import { DayPartitions } from '../ledger/day-partitions.ts';
import { DAY_TABLES } from '../ledger/record-tables.ts';
import { type Database, firstOf, type Queries } from '../tables/database.ts';
import { inserter } from '../tables/insert.ts';
import type { SqlRow, SqlValue } from '../../base/runtime/sqlite.ts';

/** Maximum rows of a piece, and its approximate maximum bytes: a single row may be larger. */
const PIECE_ROWS = 1_000;
const PIECE_BYTES = 4_000_000;

/** Key of a row. */
type Key = readonly SqlValue[];

/** Moves one table, a piece per transaction. */
export function rowsOfTable(source: Source, database: Database, declared: TableDeclaration): Part {
  const { name, key } = declared;
  const dayTable = DAY_TABLES.find((each) => each === name);
  const days = dayTable && new DayPartitions(dayTable);
  // Includes row numbers.
  const insert = inserter(database, declared, { columns: columnsOf(declared) });
  return {
    name,
    rows: Number(source.rows(`select count(*) as rows from ${quoted(name)}`)[0]?.['rows']),
    async move(moved) {
      let { rows, last } = await database.ask(() => movedOf(declared));
      for (;;) {
        const piece = readPiece(source, declared, last);
        const end = piece.at(-1);
        if (!end) return;
        await database.transact(function* () {
          if (days) yield* days.ensure(piece.map((row) => row['id'] as Uint8Array));
          yield* insert(piece);
        });
        rows += piece.length;
        last = keyOf(end, key);
        moved(rows);
      }
    },
  };
}

/** Number of rows that were moved before, and the key of the last one. */
function* movedOf({
  name,
  key,
  columns,
}: TableDeclaration): Queries<{ readonly rows: number; readonly last: Key | null }> {
  const counted = yield* firstOf(sql<{ rows: number }>`select count(*) as rows from ${sql.table(name)}`);
  // The order of SQLite, whatever the order of the database's language.
  const order = key.map(
    (column): RawBuilder<unknown> =>
      sql`${sql.ref(column)} ${isText(columns[column]) ? sql`collate "C"` : sql``} desc`,
  );
  const last = yield* firstOf(sql<SqlRow>`
    select ${sql.join(key.map((column) => sql.ref(column)))} from ${sql.table(name)}
    order by ${sql.join(order)} limit 1`);
  return { rows: counted?.rows ?? 0, last: last ? keyOf(last, key) : null };
}

function keyOf(row: SqlRow, key: readonly string[]): Key {
  return key.map((column) => row[column] as SqlValue);
}

/** Types whose values may be large. */
const LARGE: ReadonlySet<string> = new Set(['text', 'text?', 'bytes', 'bytes?']);

/** Reads rows in key order. @returns no rows if none are left */
function readPiece(
  source: Source,
  { name: table, key: keys, columns: types }: TableDeclaration,
  after: Key | null,
): readonly SqlRow[] {
  const large = Object.keys(types).filter((name) => LARGE.has(types[name] ?? '') && !keys.includes(name));
  const columns = keys.map(quoted).join(', ');
  const behind = after ? `where (${columns}) > (${keys.map(() => '?').join(', ')})` : '';
  const values = after ?? [];
  let most = PIECE_ROWS;
  if (large.length > 0) {
    // Sizes are queried first, so that no more rows than fit are read into memory.
    const size = large.map((name) => `coalesce(octet_length(${quoted(name)}), 0)`).join(' + ');
    const sizes = source.rows(
      `select ${size} as size from ${quoted(table)} ${behind} order by ${columns} limit ${PIECE_ROWS}`,
      ...values,
    );
    let bytes = 0;
    const end = sizes.findIndex((row) => (bytes += Number(row['size'])) > PIECE_BYTES);
    most = end < 0 ? PIECE_ROWS : Math.max(1, end);
  }
  return source.rows(`select * from ${quoted(table)} ${behind} order by ${columns} limit ?`, ...values, most);
}
