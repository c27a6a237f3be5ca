// Reads the rows of a table in the order of its keys, a bounded piece at a time.
import type { SqlRow, SqlValue } from '../../runtime/sqlite.ts';
import { type Cursor, PIECE_BYTES, PIECE_ROWS } from './part.ts';
import type { Source } from './source.ts';

export interface PieceQuery {
  readonly table: string;
  /** Columns that order the rows, and name each. */
  readonly keys: readonly string[];
  /** Columns whose values may be large; none: all rows are small. */
  readonly large?: readonly string[] | undefined;
}

export interface ReadPiece {
  readonly rows: readonly SqlRow[];
  readonly cursor: Cursor;
}

/** @returns null when no row follows */
export function readPiece(
  source: Source,
  { table, keys, large = [] }: PieceQuery,
  after: Cursor | null,
): ReadPiece | null {
  const columns = keys.map(quoted).join(', ');
  const behind = after ? `where (${columns}) > (${keys.map(() => '?').join(', ')})` : '';
  const values = after ?? [];
  let most = PIECE_ROWS;
  if (large.length > 0) {
    // Before anything of it is in memory.
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

/** How many rows a table has. */
export function countRows(source: Source, table: string): number {
  return Number(source.rows(`select count(*) as rows from ${quoted(table)}`)[0]?.['rows']);
}

/** The columns of a table. */
export function columnsOf(source: Source, table: string): readonly string[] {
  return source.rows(`select name from pragma_table_info(?)`, table).map(({ name }) => String(name));
}

/** A name as SQL has it. Names are of this program's own tables. */
export function quoted(name: string): string {
  return `"${name}"`;
}
