// Finds and deletes expired rows of any table.
import { type RawBuilder, sql } from 'kysely';
import type { Database, Queries } from './database.ts';
import { statement } from './statement.ts';
import type { TableDeclaration } from './table.ts';
import type { UnixMs } from '../../base/units.ts';

/** Values of a primary key, by column. */
type KeyRow = Readonly<Record<string, unknown>>;

/**
 * Creates a function that removes a bounded number of rows whose `expires_at` has passed, earliest first.
 * @param columns columns to read
 * @param remove removes locked rows and their dependents
 * @param where further condition
 * @returns a function that returns the removed rows; empty: none are left
 */
export function expirer<Row extends object>(
  { dialect, sweep }: Database,
  { name }: TableDeclaration,
  columns: readonly (keyof Row & string)[],
  remove: (rows: readonly Row[]) => Queries<unknown>,
  where: RawBuilder<unknown> = sql`true`,
): (nowMs: UnixMs) => Promise<readonly Row[]> {
  const selected = sql.join(columns.map((column) => sql.ref(column)));
  const find = statement(
    ({ nowMs, limit }: { nowMs: UnixMs; limit: number }) => sql<Row>`
      select ${selected} from ${sql.table(name)} where expires_at <= ${nowMs} and ${where}
      order by expires_at, ${sql.ref('row')} limit ${limit} ${dialect.lockFree}`,
  );
  return (nowMs) => sweep((limit) => find({ nowMs, limit }), remove);
}

/**
 * Creates a function that deletes rows whose column is below a bound, lowest first.
 * @param column an indexed column
 * @returns a function that returns the number of deleted rows; 0: none are left
 */
export function purger(
  { dialect, sweep }: Database,
  { name, key }: TableDeclaration,
  column: string,
): (below: number) => Promise<number> {
  const [of, age] = [sql.table(name), sql.ref(column)];
  const keys = sql.join(key.map((each) => sql.ref(each)));
  const find = statement(
    ({ below, limit }: { below: number; limit: number }) =>
      sql<KeyRow>`select ${keys} from ${of} where ${age} < ${below} order by ${age} limit ${limit} ${dialect.lockFree}`,
  );
  const valuesOf = (row: KeyRow) => sql`(${sql.join(key.map((each) => row[each]))})`;
  const removeOne = statement((row: KeyRow) => sql`delete from ${of} where (${keys}) = ${valuesOf(row)}`);
  return async (below) => {
    const deleted = await sweep(
      (limit) => find({ below, limit }),
      function* (rows) {
        const [row] = rows;
        if (row && rows.length === 1) yield removeOne(row);
        else yield sql`delete from ${of} where (${keys}) in (${sql.join(rows.map(valuesOf))})`;
      },
    );
    return deleted.length;
  };
}
