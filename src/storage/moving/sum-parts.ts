// Sums over records, names spelled out. Hours that are not in their day yet are added to it: in PostgreSQL they are at once.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { SqlRow } from '../../runtime/sqlite.ts';
import { USAGE_COUNTS, type UsageCounts } from '../../usage/index.ts';
import { CompactReader } from '../compact/reader.ts';
import { storable } from '../postgres/text.ts';
import { daysOf, NO_WRITER, type UsageRow, UsageRows } from '../postgres/usage/usage-rows.ts';
import type { Tx } from '../postgres/store.ts';
import type { EndUserRowsTable, EndUserUsageTable, UsageTable } from '../sqlite/schema.ts';
import { END_USER_COUNTS } from '../sqlite/usage/end-user-writer.ts';
import { FOLDED, USAGE_KEYS, type UsageTableName } from '../sqlite/usage/usage-tables.ts';
import { readDetails } from '../usage/usage-details.ts';
import type { Part } from './part.ts';
import { countRows, readPiece } from './pieces.ts';
import type { Source } from './source.ts';

export function sumParts(source: Source): readonly Part[] {
  const usage = new UsageRows();
  const folded = foldedOf(source);
  const sums = (table: UsageTableName, write: (tx: Tx, rows: readonly SqlRow[]) => Promise<void>): Part =>
    partOf(source, table, [...USAGE_KEYS], write);
  const rowsOf = (rows: readonly SqlRow[]): readonly UsageRow[] =>
    rows.map((row) => usageRow(row as object as UsageTable, source));
  return [
    sums('usage_daily', (tx, rows) => usage.addRows(tx, 'usage_daily', rowsOf(rows), NO_WRITER)),
    sums('usage_hourly', async (tx, rows) => {
      const late = rows.filter((row) => isBehind(row, folded));
      await usage.addRows(tx, 'usage_daily', daysOf(rowsOf(late)), NO_WRITER);
      await usage.addRows(tx, 'usage_hourly', rowsOf(rows), NO_WRITER);
    }),
    partOf(source, 'usage_end_users', ['period', 'project', 'end_user', 'key', 'model'], (tx, rows) =>
      addEndUsers(tx, rows as object[] as EndUserUsageTable[], source),
    ),
    partOf(source, 'usage_end_user_rows', ['period', 'project'], (tx, rows) =>
      addEndUserRows(tx, rows as object[] as EndUserRowsTable[], source),
    ),
  ];
}

/** The keys of the last row of an hour that is in its day. */
export function foldedOf(source: Source): readonly number[] {
  const [row] = source.rows('select value from settings where name = ?', FOLDED);
  if (!row) throw new GatewayError('internal', 'the sums of this data directory do not say how far they are');
  return JSON.parse(String(row['value'])) as number[];
}

function partOf(
  source: Source,
  table: string,
  keys: readonly string[],
  write: (tx: Tx, rows: readonly SqlRow[]) => Promise<void>,
): Part {
  return {
    name: table,
    total: () => countRows(source, table),
    next(after) {
      const piece = readPiece(source, { table, keys }, after);
      return piece && { rows: piece.rows.length, cursor: piece.cursor, write: (tx) => write(tx, piece.rows) };
    },
  };
}

function isBehind(row: SqlRow, keys: readonly number[]): boolean {
  for (const [at, name] of USAGE_KEYS.entries()) {
    const difference = Number(row[name]) - (keys[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

function usageRow(row: UsageTable, source: Source): UsageRow {
  const name = (number: number): string => nameOf(number, source);
  const counts = Object.fromEntries(USAGE_COUNTS.map((count) => [count, row[count]])) as UsageCounts;
  return {
    period: row.period,
    names: {
      project: name(row.project),
      key: name(row.key),
      model: name(row.model),
      provider: name(row.provider),
      endpoint: name(row.endpoint),
      protocol: name(row.protocol),
    },
    sums: { counts, details: readDetails(new CompactReader(row.details, source.textOf)) },
  };
}

/** 0 is none. */
function nameOf(number: number, { textOf }: Source): string {
  return number === 0 ? '' : storable(textOf(number));
}

async function addEndUsers(tx: Tx, rows: readonly EndUserUsageTable[], source: Source): Promise<void> {
  const counts = Object.keys(END_USER_COUNTS) as (keyof typeof END_USER_COUNTS)[];
  const names = sql.join(counts.map((name) => sql.ref(name)));
  const values = sql.join(counts.map((name) => sql`${rows.map((row) => row[name])}::bigint[]`));
  const texts = (name: 'project' | 'key' | 'model') =>
    sql`${rows.map((row) => nameOf(row[name], source))}::text[]`;
  await sql`
    insert into usage_end_users (period, project, end_user, key, model, ${names}, writer)
    select *, ${NO_WRITER}::smallint from unnest(
      ${rows.map(({ period }) => period)}::integer[], ${texts('project')},
      ${rows.map(({ end_user: hash }) => Buffer.from(hash).toString('hex'))}::text[],
      ${texts('key')}, ${texts('model')}, ${values})`.execute(tx);
}

async function addEndUserRows(tx: Tx, rows: readonly EndUserRowsTable[], source: Source): Promise<void> {
  await sql`
    insert into usage_end_user_rows (period, project, rows)
    select * from unnest(
      ${rows.map(({ period }) => period)}::integer[],
      ${rows.map(({ project }) => nameOf(project, source))}::text[],
      ${rows.map(({ rows: count }) => count)}::integer[])`.execute(tx);
}
