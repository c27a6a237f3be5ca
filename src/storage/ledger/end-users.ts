// Sums by end user. Clients choose end-user names freely, so rows per hour and project are limited. Requests beyond the
// limit are added to one common row, so that the totals stay complete.
import { type RawBuilder, sql } from 'kysely';
import { inputTokensIn, outputTokensIn, type UsageCounts } from '../../accounts/usage/index.ts';
import { othersRun } from '../others-run.ts';
import type { EndUserQuery, EndUserUsage } from '../../accounts/ports/index.ts';
import { type Database, firstOf, type Queries } from '../tables/database.ts';
import { valuesInserter } from '../tables/insert.ts';
import type { EndUserRow } from './sums.ts';
import { hoursOf, MOST_REPORT_ROWS, oneOf } from './report-queries.ts';
import { USAGE_END_USERS } from './usage-tables.ts';

/** Maximum end-user rows per hour and project, not counting the row for all others. */
const MOST_END_USERS = 10_000;
/** End user of the row for all requests beyond the limit. */
export const OTHER_END_USERS = '';
/** Maximum end users that a report adds up, because they are held in memory. The others are added to a common row. */
const MOST_ADDED_UP = 10 * MOST_REPORT_ROWS;
/** Hours that SQLite adds up per query. */
const HOURS_AT_ONCE = 2;

/** Creates a function that adds rows, inside the transaction that writes their records, so that each record counts once. */
export function endUserWriter(database: Database): (rows: readonly EndUserRow[]) => Queries<void> {
  const add = valuesInserter(database, USAGE_END_USERS, {
    conflict: { on: USAGE_END_USERS.key, update: 'grow' },
  });
  return function* (rows) {
    if (rows.length === 0) return;
    const added = new Map<string, (string | number)[]>();
    const free = yield* roomFor(rows);
    for (const { period, project, endUser, key, model, counts } of rows) {
      const place = `${period} ${project}`;
      const left = free.get(place);
      const isKnown = left !== undefined && (yield* isThere(period, project, endUser, key, model));
      const hasRoom = left === undefined || left > 0;
      if (left !== undefined && !isKnown && left > 0) free.set(place, left - 1);
      const user = isKnown || hasRoom ? endUser : OTHER_END_USERS;
      addTo(
        added,
        [period, project, user, key, model],
        END_USER_COUNTS.map((of) => of(counts)),
      );
    }
    yield* add([...added.values()]);
  };
}

/** Number of rows left, for those hours and projects that these rows could bring over the limit. */
function* roomFor(rows: readonly EndUserRow[]): Queries<Map<string, number>> {
  const free = new Map<string, number>();
  for (const [place, wanted] of Map.groupBy(rows, ({ period, project }) => `${period} ${project}`)) {
    const { period, project } = wanted[0] as EndUserRow;
    const found = yield* firstOf(sql<{ many: number }>`
      select count(*) as many from usage_end_users
      where period = ${period} and project = ${project} and end_user <> ${OTHER_END_USERS}`);
    const left = MOST_END_USERS - (found?.many ?? 0);
    if (left < wanted.length) free.set(place, left);
  }
  return free;
}

function* isThere(
  period: number,
  project: string,
  endUser: string,
  key: string,
  model: string,
): Queries<boolean> {
  const found = yield sql`
    select period from usage_end_users where period = ${period} and project = ${project}
      and end_user = ${endUser} and key = ${key} and model = ${model}`;
  return found.length > 0;
}

/** Counts of an end-user row, in column order. */
const END_USER_COUNTS: readonly ((counts: UsageCounts) => number)[] = [
  ({ requests }) => requests,
  ({ errors }) => errors,
  (counts) => counts.charged_errors,
  (counts) => counts.tool_turns,
  inputTokensIn,
  outputTokensIn,
  (counts) => counts.nano_usd,
  ({ unpriced }) => unpriced,
];

function addTo(
  rows: Map<string, (string | number)[]>,
  keys: readonly (string | number)[],
  counts: readonly number[],
): void {
  const name = keys.join('\0');
  const row = rows.get(name);
  if (!row) return void rows.set(name, [...keys, ...counts]);
  counts.forEach((count, at) => {
    row[keys.length + at] = Number(row[keys.length + at]) + count;
  });
}

/**
 * Sums by end user, highest cost first.
 * @returns at most `MOST_REPORT_ROWS` end users, and for each project a row of all others
 */
export async function endUserReport(
  database: Database,
  { fromMs, toMs, filters }: EndUserQuery,
): Promise<readonly EndUserUsage[]> {
  const conditions = (['project', 'key', 'model'] as const).flatMap((name) => {
    const texts = filters[name];
    return texts ? [sql`and ${oneOf(name, texts)}`] : [];
  });
  const users = new Map<string, EndUserUsage>();
  /** By project. */
  const others = new Map<string, EndUserUsage>();
  for (const within of await piecesOf(database, hoursOf(fromMs, toMs))) {
    const rows = await database.read<EndUserUsage & { readonly endUser: string }>(sql`
        select project, end_user as "endUser", ${sql.join(SUMMED)} from usage_end_users
        where ${within} ${sql.join(conditions, sql` `)} group by project, end_user`);
    for (const row of rows) {
      const name = `${row.project}\0${row.endUser}`;
      if (row.endUser !== OTHER_END_USERS && (users.has(name) || users.size < MOST_ADDED_UP))
        addUsage(users, name, row);
      else addUsage(others, row.project, { ...row, endUser: null });
    }
    await othersRun();
  }
  const byRank = [...users.values()].toSorted(byCost);
  for (const user of byRank.splice(MOST_REPORT_ROWS))
    addUsage(others, user.project, { ...user, endUser: null });
  return [...byRank, ...others.values()].toSorted(byCost);
}

function byCost(a: EndUserUsage, b: EndUserUsage): number {
  return b.nanoUsd - a.nanoUsd || b.requests - a.requests;
}

function addUsage(rows: Map<string, EndUserUsage>, name: string, row: EndUserUsage): void {
  const known = rows.get(name);
  rows.set(name, known ? together(known, row) : row);
}

const SUMMED: readonly RawBuilder<unknown>[] = Object.entries({
  requests: 'requests',
  errors: 'errors',
  inputTokens: 'input_tokens',
  outputTokens: 'output_tokens',
  nanoUsd: 'nano_usd',
  unpriced: 'unpriced',
}).map(([as, column]) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(as)}`);

function together(a: EndUserUsage, b: EndUserUsage): EndUserUsage {
  return {
    ...a,
    requests: a.requests + b.requests,
    errors: a.errors + b.errors,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    nanoUsd: a.nanoUsd + b.nanoUsd,
    unpriced: a.unpriced + b.unpriced,
  };
}

/** Conditions on the hours: one for all in PostgreSQL; in SQLite one for every few hours that have rows. */
async function piecesOf(
  { read, kind }: Database,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly RawBuilder<unknown>[]> {
  const all = sql`period >= ${from} and period < ${to}`;
  if (kind === 'postgres') return [all];
  const hours = await read<{ readonly period: number }>(
    sql`select distinct period from usage_end_users where ${all} order by period`,
  );
  const pieces: RawBuilder<unknown>[] = [];
  for (let at = 0; at < hours.length; at += HOURS_AT_ONCE)
    pieces.push(
      oneOf(
        'period',
        hours.slice(at, at + HOURS_AT_ONCE).map(({ period }) => period),
      ),
    );
  return pieces;
}
