// Tables that are the same in both databases, row by row, as they are declared.
import type { PostgresBase } from '../postgres/store.ts';
import type { Part } from './part.ts';
import { countRows, readPiece } from './pieces.ts';
import type { Source } from './source.ts';
import { columnsOf, type TableDeclaration } from '../tables/table.ts';
import { DayPartitions } from '../ledger/day-partitions.ts';
import { DAY_TABLES } from '../ledger/record-tables.ts';
import { inserter } from '../tables/insert.ts';
import { MOVED_TABLES } from './tables.ts';

/** Parts for all of them. */
export function rowParts(source: Source, { database }: Pick<PostgresBase, 'database'>): readonly Part[] {
  return MOVED_TABLES.map((declared) => rowPart(source, database, declared));
}

function rowPart(source: Source, database: PostgresBase['database'], declared: TableDeclaration): Part {
  const { name } = declared;
  const dayTable = DAY_TABLES.find((each) => each === name);
  const days = dayTable && new DayPartitions(dayTable);
  // The numbers of rows, too.
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
