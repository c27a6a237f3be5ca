// The list of generations: in the order of their ids, as far as filters let them through. Rows have no index but their ids:
// the sums say of each day and hour who was there, so that a search for something rare reads a few hours of a year.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { GatewayError } from '../../../canonical/index.ts';
import { nanoUsdOf } from '../../../limits/index.ts';
import type { GenerationFilters, GenerationQuery } from '../../ports.ts';
import { firstIdAt, timeOf } from '../../record-ids.ts';
import { DAY_HOURS, HOUR_MS, type HourSpan } from '../../usage/hours.ts';
import type { PostgresSchema } from '../store.ts';
import { MOST_ROWS, OTHER_END_USERS } from '../usage/end-user-rows.ts';
import { USAGE_NAMES, type UsageTable } from '../usage/usage-tables.ts';
import { OUTCOME_NUMBERS } from './counted-record.ts';
import { RECORD_COLUMNS, type RecordRow } from './found-records.ts';
import { END_OF_DAYS } from './row-ids.ts';

/** Days that are looked at together. */
const DAYS = 32;
/** Hours that one statement looks through at most. */
const MOST_HOURS = 64;
/** Hours of a search that the database has for days of no end. */
const NO_HOUR = 2_147_483_647;

/** Ids from the first on, and before the second. */
interface IdSpan {
  readonly from: Buffer;
  readonly to: Buffer;
}

/** Rows that pass, in order; at most one more than asked for. */
export async function listedRows(
  db: Kysely<PostgresSchema>,
  query: GenerationQuery,
): Promise<readonly RecordRow[]> {
  const { filters, order, limit } = query;
  const found: RecordRow[] = [];
  for await (const spans of together(spansOf(db, query))) {
    found.push(...(await rowsIn(db, spans, filters, order, limit + 1 - found.length)));
    if (found.length > limit) break;
  }
  return found;
}

/**
 * First one, then twice as many each time: what is frequent is found in the first hour, and what is rare is not asked for hour
 * by hour.
 */
async function* together(spans: AsyncIterable<IdSpan>): AsyncGenerator<readonly IdSpan[]> {
  let some: IdSpan[] = [];
  let most = 1;
  for await (const span of spans) {
    some.push(span);
    if (some.length < most) continue;
    yield some;
    some = [];
    most = Math.min(2 * most, MOST_HOURS);
  }
  if (some.length > 0) yield some;
}

/** @param spans none of them over another */
async function rowsIn(
  db: Kysely<PostgresSchema>,
  spans: readonly IdSpan[],
  filters: GenerationFilters,
  order: 'asc' | 'desc',
  most: number,
): Promise<readonly RecordRow[]> {
  const { rows } = await sql<RecordRow>`
    select r.* from unnest(${spans.map(({ from }) => from)}::bytea[], ${spans.map(({ to }) => to)}::bytea[]) s (first, behind),
      lateral (
        select ${RECORD_COLUMNS} from records
        where id >= first and id < behind and not is_late and ${passing(filters)}
        order by id ${sql.raw(order)} limit ${most}
      ) r
    order by r.id ${sql.raw(order)} limit ${most}`.execute(db);
  return rows;
}

function passing(f: GenerationFilters): RawBuilder<unknown> {
  const conditions = USAGE_NAMES.flatMap((name) => oneOf(name, f[name], 'text'));
  // None is asked for by the empty name, as everywhere.
  if (f.endUser) conditions.push(sql`coalesce(end_user, '') = any(${f.endUser}::text[])`);
  conditions.push(
    ...oneOf('status', f.status, 'integer'),
    ...oneOf(
      'outcome',
      f.outcome?.map((outcome) => OUTCOME_NUMBERS[outcome]),
      'smallint',
    ),
  );
  if (f.minCostUsd !== undefined) conditions.push(sql`cost_usd >= ${f.minCostUsd}`);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

function oneOf(
  column: string,
  values: readonly (string | number)[] | undefined,
  type: 'text' | 'integer' | 'smallint',
): RawBuilder<unknown>[] {
  return values ? [sql`${sql.ref(column)} = any(${values}::${sql.raw(type)}[])`] : [];
}

/** Where to look. */
async function* spansOf(db: Kysely<PostgresSchema>, query: GenerationQuery): AsyncGenerator<IdSpan> {
  const { filters, order, after } = query;
  const bounds = boundsOf(filters, order, after);
  const { fromMs: _from, toMs: _to, ...narrowing } = filters;
  if (Object.values(narrowing).every((filter) => filter === undefined)) return yield bounds;
  for await (const hour of hoursWith(db, hoursIn(bounds), filters, order)) {
    const from = Buffer.from(firstIdAt(hour * HOUR_MS));
    const to = Buffer.from(firstIdAt((hour + 1) * HOUR_MS));
    yield {
      from: Buffer.compare(from, bounds.from) > 0 ? from : bounds.from,
      to: Buffer.compare(to, bounds.to) < 0 ? to : bounds.to,
    };
  }
}

function boundsOf(
  { fromMs, toMs }: GenerationFilters,
  order: 'asc' | 'desc',
  after: string | undefined,
): IdSpan {
  const from = fromMs === undefined ? Buffer.alloc(0) : Buffer.from(firstIdAt(fromMs));
  const to = toMs === undefined ? END_OF_DAYS : Buffer.from(firstIdAt(toMs));
  if (after === undefined) return { from, to };
  if (!/^[0-9a-f]{32}$/.test(after))
    throw new GatewayError('invalid_request', 'after: this is not the id of a generation', {
      param: 'after',
    });
  const place = Buffer.from(after, 'hex');
  // Right behind it comes what is one byte longer.
  const behind = Buffer.concat([place, Buffer.alloc(1)]);
  if (order === 'asc') return { from: Buffer.compare(behind, from) > 0 ? behind : from, to };
  return { from, to: Buffer.compare(place, to) < 0 ? place : to };
}

function hoursIn({ from, to }: IdSpan): HourSpan {
  return {
    from: from.length === 0 ? 0 : Math.floor(timeOf(from) / HOUR_MS),
    to: to === END_OF_DAYS ? NO_HOUR : Math.min(NO_HOUR, Math.floor(timeOf(to) / HOUR_MS) + 1),
  };
}

/** Hours that may hold something, in order. */
async function* hoursWith(
  db: Kysely<PostgresSchema>,
  span: HourSpan,
  filters: GenerationFilters,
  order: 'asc' | 'desc',
): AsyncGenerator<number> {
  // Requests that named nobody are in no sum of end users.
  if (filters.endUser && !filters.endUser.includes('')) {
    yield* hoursOf(db, span, filters.endUser, filters, order);
    return;
  }
  let days: HourSpan = { from: Math.floor(span.from / DAY_HOURS), to: Math.ceil(span.to / DAY_HOURS) };
  for (;;) {
    const found = await periodsWith(db, 'usage_daily', days, filters, order, DAYS);
    for (const day of found) {
      const hours = {
        from: Math.max(span.from, day * DAY_HOURS),
        to: Math.min(span.to, (day + 1) * DAY_HOURS),
      };
      yield* await periodsWith(db, 'usage_hourly', hours, filters, order, DAY_HOURS);
    }
    const last = found.at(-1);
    if (last === undefined || found.length < DAYS) return;
    days = order === 'asc' ? { from: last + 1, to: days.to } : { from: days.from, to: last };
  }
}

/** Hours in which one of some end users was there, or for whom there was no room, in order. */
async function* hoursOf(
  db: Kysely<PostgresSchema>,
  span: HourSpan,
  endUsers: readonly string[],
  filters: GenerationFilters,
  order: 'asc' | 'desc',
): AsyncGenerator<number> {
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select min(period) as first, max(period) as last from usage_end_user_rows`.execute(db);
  const [first, last] = [rows[0]?.first ?? 0, rows[0]?.last ?? -1];
  let { from, to } = { from: Math.max(span.from, first), to: Math.min(span.to, last + 1) };
  while (from < to) {
    const edge =
      order === 'asc' ? Math.min(to, from + DAYS * DAY_HOURS) : Math.max(from, to - DAYS * DAY_HOURS);
    const part = order === 'asc' ? { from, to: edge } : { from: edge, to };
    const found = await sql<{ period: number }>`
      select u.period from usage_end_user_rows o join usage_end_users u using (period, project)
        where o.period >= ${part.from} and o.period < ${part.to} and u.end_user = any(${endUsers}::text[])
      union select u.period from usage_end_user_rows o join usage_end_users u using (period, project)
        where o.period >= ${part.from} and o.period < ${part.to} and o.rows >= ${MOST_ROWS} and u.end_user = ${OTHER_END_USERS}
      order by period ${sql.raw(order)}`.execute(db);
    const hours = found.rows.map(({ period }) => period);
    // What sums of end users do not tell, those of the hour may.
    yield* await periodsWith(db, 'usage_hourly', hours, filters, order, DAYS * DAY_HOURS);
    if (order === 'asc') from = edge;
    else to = edge;
  }
}

/** @param among those that may be given: a span of them, or some */
async function periodsWith(
  db: Kysely<PostgresSchema>,
  table: UsageTable,
  among: HourSpan | readonly number[],
  filters: GenerationFilters,
  order: 'asc' | 'desc',
  most: number,
): Promise<readonly number[]> {
  const conditions = USAGE_NAMES.flatMap((name) => oneOf(name, filters[name], 'text'));
  if ('from' in among) conditions.push(sql`period >= ${among.from}`, sql`period < ${among.to}`);
  else conditions.push(...oneOf('period', among, 'integer'));
  const { outcome, minCostUsd } = filters;
  if (minCostUsd !== undefined) conditions.push(sql`nano_usd >= ${Math.floor(nanoUsdOf(minCostUsd))}`);
  if (outcome && !outcome.includes('answered')) {
    const kinds = outcome.map((kind) => (kind === 'failed' ? sql`errors > 0` : sql`cancelled > 0`));
    conditions.push(kinds.length === 0 ? sql`false` : sql`(${sql.join(kinds, sql` or `)})`);
  }
  const { rows } = await sql<{ period: number }>`
    select distinct period from ${sql.table(table)} where ${sql.join(conditions, sql` and `)}
    order by period ${sql.raw(order)} limit ${most}`.execute(db);
  return rows.map(({ period }) => period);
}
