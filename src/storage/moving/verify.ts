// Compares what was moved with what there is: how many rows of each table, and the sum of each column of whole numbers; of
// records for each day. As texts, since some sums are too large for a number.
import { sql } from 'kysely';
import { USAGE_COUNTS } from '../../usage/index.ts';
import type { PostgresBase } from '../postgres/store.ts';
import { END_USER_COUNTS } from '../sqlite/usage/end-user-writer.ts';
import { USAGE_KEYS } from '../sqlite/usage/usage-tables.ts';
import { columnsOf, quoted } from './pieces.ts';
import { typesOf } from './row-parts.ts';
import type { Source } from './source.ts';
import { foldedOf } from './sum-parts.ts';
import { MOVED_TABLES } from './tables.ts';

const NUMBERS: ReadonlySet<string> = new Set(['bigint', 'integer', 'smallint']);

/** Two questions that must have the same answer. */
interface Check {
  readonly what: string;
  readonly here: string;
  readonly there: string;
}

/** @returns what is not the same, a sentence each; none when all is */
export async function differences(source: Source, { db }: PostgresBase): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { what, here, there } of [
    ...(await tableChecks(source, db)),
    ...recordChecks(),
    ...sumChecks(source),
  ]) {
    const expected = source.rows(here).map(textOf);
    const { rows } = await sql<Record<string, unknown>>`${sql.raw(there)}`.execute(db);
    const moved = new Set(rows.map(textOf));
    const missing = expected.find((row) => !moved.has(row));
    if (missing !== undefined || moved.size !== expected.length)
      found.push(
        `${what}: ${missing ?? `${expected.length} rows`} here, ${[...moved].slice(0, 3).join(' ')} there`,
      );
  }
  return found;
}

function textOf(row: Record<string, unknown>): string {
  return JSON.stringify(row);
}

async function tableChecks(source: Source, db: PostgresBase['db']): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const { name, renumbered = [] } of MOVED_TABLES) {
    const types = await typesOf(db, name);
    const numbers = columnsOf(source, name).filter(
      (column) => NUMBERS.has(types.get(column) ?? '') && !renumbered.includes(column),
    );
    checks.push({ what: name, here: totalsHere(name, numbers), there: totalsThere(name, numbers) });
  }
  return checks;
}

function recordChecks(): readonly Check[] {
  // Costs as whole pico-dollars, so that the order of adding does not matter.
  const both =
    '(select created_at, status, cost_usd from records union all select created_at, status, cost_usd from generations)';
  return [
    {
      what: 'records of a day',
      here: `select cast(created_at / 86400000 as integer) as day, cast(count(*) as text) as records,
        cast(sum(status) as text) as status, cast(count(cost_usd) as text) as priced,
        cast(coalesce(sum(cast(cost_usd * 1e12 as integer)), 0) as text) as cost
        from ${both} group by 1 order by 1`,
      there: `select floor(created_at / 86400000)::integer as day, count(*)::text as records,
        sum(status)::text as status, count(cost_usd)::text as priced,
        coalesce(sum(trunc(cost_usd * 1e12)::bigint), 0)::text as cost
        from records group by 1 order by 1`,
    },
    {
      what: 'prompts and answers',
      here: 'select cast(count(*) as text) as count from generation_contents',
      there: 'select count(*)::text as count from record_contents',
    },
  ];
}

function sumChecks(source: Source): readonly Check[] {
  const counts = USAGE_COUNTS.map(quoted).join(', ');
  const behind = `(${USAGE_KEYS.map(quoted).join(', ')}) > (${foldedOf(source).map(Number).join(', ')})`;
  // What is not in its day here is there.
  const days = `(select ${counts} from usage_daily union all select ${counts} from usage_hourly where ${behind})`;
  return [
    {
      what: 'sums of hours',
      here: totalsHere('usage_hourly', USAGE_COUNTS, false),
      there: totalsThere('usage_hourly', USAGE_COUNTS, false),
    },
    {
      what: 'sums of days',
      here: totalsHere(days, USAGE_COUNTS, false, false),
      there: totalsThere('usage_daily', USAGE_COUNTS, false),
    },
    {
      what: 'sums of end users',
      here: totalsHere('usage_end_users', Object.keys(END_USER_COUNTS)),
      there: totalsThere('usage_end_users', Object.keys(END_USER_COUNTS)),
    },
  ];
}

function totalsHere(table: string, columns: readonly string[], counted = true, isName = true): string {
  const sums = columns.map((name) => `cast(coalesce(sum(${quoted(name)}), 0) as text) as ${quoted(name)}`);
  const count = counted ? ['cast(count(*) as text) as "rows"'] : [];
  return `select ${[...count, ...sums].join(', ')} from ${isName ? quoted(table) : table}`;
}

function totalsThere(table: string, columns: readonly string[], counted = true): string {
  const sums = columns.map((name) => `coalesce(sum(${quoted(name)}), 0)::text as ${quoted(name)}`);
  const count = counted ? ['count(*)::text as "rows"'] : [];
  return `select ${[...count, ...sums].join(', ')} from ${quoted(table)}`;
}
