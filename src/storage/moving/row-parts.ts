// Moves tables that have the same columns in both databases.
import { type Cursor, type Part, PIECE_BYTES, PIECE_ROWS } from './part.ts';
import type { Source } from './source.ts';
import { columnsOf, quoted, type TableDeclaration } from '../tables/table.ts';
import { DayPartitions } from '../ledger/day-partitions.ts';
import { DAY_TABLES } from '../ledger/record-tables.ts';
import type { Database } from '../tables/database.ts';
import { inserter } from '../tables/insert.ts';
import { MOVED_TABLES } from './tables.ts';
import type { SqlRow, SqlValue } from '../../base/runtime/sqlite.ts';

/** One part per table. */
export function rowParts(source: Source, database: Database): readonly Part[] {
  return MOVED_TABLES.map((declared) => rowPart(source, database, declared));
}

function rowPart(source: Source, database: Database, declared: TableDeclaration): Part {
  const { name } = declared;
  const dayTable = DAY_TABLES.find((each) => each === name);
  const days = dayTable && new DayPartitions(dayTable);
  // Includes row numbers.
  const insert = inserter(database, declared, { columns: columnsOf(declared) });
  return {
    name,
    total: () => countRows(source, name),
    next(after) {
      const piece = readPiece(source, declared, after);
      return (
        piece && {
          rows: piece.rows.length,
          cursor: piece.cursor,
          *write() {
            if (days) yield* days.ensure(piece.rows.map((row) => row['id'] as Uint8Array));
            yield* insert(piece.rows);
          },
        }
      );
    },
  };
}

// Reads rows in key order, in pieces.

/** Types whose values may be large. */
const LARGE: ReadonlySet<string> = new Set(['text', 'text?', 'bytes', 'bytes?']);

export interface ReadPiece {
  readonly rows: readonly SqlRow[];
  readonly cursor: Cursor;
}

/** @returns null if no rows are left */
function readPiece(
  source: Source,
  { name: table, key: keys, columns: types }: TableDeclaration,
  after: Cursor | null,
): ReadPiece | null {
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
  const rows = source.rows(
    `select * from ${quoted(table)} ${behind} order by ${columns} limit ?`,
    ...values,
    most,
  );
  const last = rows.at(-1);
  return last ? { rows, cursor: keys.map((key) => last[key] as SqlValue) } : null;
}

function countRows(source: Source, table: string): number {
  return Number(source.rows(`select count(*) as rows from ${quoted(table)}`)[0]?.['rows']);
}
