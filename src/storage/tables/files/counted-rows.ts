// Rows that expire and count against the quota of their project: files and uploads.
import { sql } from 'kysely';
import type { Queries, StateDatabase } from '../database.ts';
import { expirer } from '../purge.ts';
import { columnsOf, type TableDeclaration } from '../table.ts';

interface CountedRow {
  readonly row: number;
  /** Project. */
  readonly key_id: string;
}

/** @param bytesOf bytes that a row counts against the quota */
export function countedRows<Row extends CountedRow>(
  database: StateDatabase,
  declared: TableDeclaration,
  bytesOf: (row: Row) => number,
) {
  /** Deletes locked rows, and subtracts their bytes. */
  function* remove(rows: readonly Row[]): Queries<void> {
    // Fixed order, to avoid deadlocks between processes.
    for (const row of rows.toSorted((a, b) => (a.key_id < b.key_id ? -1 : 1))) {
      yield sql`delete from ${sql.table(declared.name)} where ${sql.ref('row')} = ${row.row}`;
      yield* database.usage.release(row.key_id, 0, bytesOf(row));
    }
  }

  const columns = columnsOf(declared) as readonly (keyof Row & string)[];
  return { remove, takeExpired: expirer<Row>(database, declared, columns, remove) };
}
