// Compares the moved data with its source: the number of rows of each table, and the sum of each integer column. Sums
// are compared as text, because some exceed safe integers.
import { sql } from 'kysely';
import type { Database } from '../tables/database.ts';
import { quoted, type TableDeclaration } from '../tables/table.ts';
import type { Source } from './source.ts';
import { MOVED_TABLES } from './tables.ts';

/** Integer types. */
const NUMBERS: ReadonlySet<string> = new Set(['number', 'number?', 'small', 'small?', 'row']);

/** @returns a sentence per difference */
export async function differences(source: Source, { readFirst }: Database): Promise<readonly string[]> {
  const found: string[] = [];
  for (const declared of MOVED_TABLES) {
    const totals = totalsOf(declared);
    const here = JSON.stringify(source.rows(totals)[0]);
    const there = JSON.stringify(await readFirst(sql.raw(totals)));
    if (here !== there) found.push(`${declared.name}: ${here} in the source, ${there} in the database`);
  }
  return found;
}

/** Query for both databases: row count and sums of the integer columns of a table. */
function totalsOf({ name, columns, renumbered = [] }: TableDeclaration): string {
  const sums = Object.keys(columns)
    .filter((column) => NUMBERS.has(columns[column] ?? '') && !renumbered.includes(column))
    .map(quoted)
    .map((column) => `cast(coalesce(sum(${column}), 0) as text) as ${column}`);
  return `select ${['cast(count(*) as text) as "rows"', ...sums].join(', ')} from ${quoted(name)}`;
}
