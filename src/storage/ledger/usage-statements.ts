// SQL of reports: rows of sums in key order for SQLite, or added up by PostgreSQL.
import { type RawBuilder, sql } from 'kysely';
import type { WantedSums } from '../../accounts/usage/index.ts';
import { USAGE_DIMENSIONS, type UsageQuery } from '../../accounts/ports/index.ts';
import type { Dialect } from '../tables/database.ts';
import { oneOf } from './report-queries.ts';
import { periodsIn, type SpanPart } from './usage-spans.ts';
import { periodMs } from './usage-tables.ts';
import type { DurationMs } from '../../base/units.ts';

/** Rows per SQLite query: about a millisecond, during which the event loop is blocked. */
export const PIECE_ROWS = 1_000;

export interface GroupedBy extends Pick<UsageQuery, 'groupBy' | 'filters'> {
  readonly part: SpanPart;
  /** Milliseconds per interval. Null: no intervals, or the part is within one. */
  readonly stepMs: DurationMs | null;
}

/** Rows in key order, without names. */
export function oneByOne(
  asked: GroupedBy,
  where: RawBuilder<unknown>,
  wanted: WantedSums,
): RawBuilder<unknown> {
  const by = { ...asked, groupBy: [] };
  const columns = ['period', 'grp', ...wanted.counts, ...(wanted.details ? ['details'] : [])];
  const selected = columns.map((name) => sql.ref(`u.${name}`));
  return sql`
    select ${sql.join([...selectedOf(by), ...selected])} from ${from(by)}
    where ${where} and ${joined(by)} and ${passing(by.filters)}
    order by u.period, u.grp limit ${PIECE_ROWS}`;
}

/** Rows added up by the database, with names. */
export function addedUp(
  by: GroupedBy,
  where: RawBuilder<unknown>,
  wanted: WantedSums,
  { joined: joinedTexts }: Pick<Dialect, 'joined'>,
): RawBuilder<unknown> {
  const sums = wanted.counts.map((name) => summed(`u.${name}`, name));
  if (wanted.details) sums.push(sql`${joinedTexts('u.details')} as details`);
  const group = groupsOf(by);
  return sql`
    select ${sql.join([...selectedOf(by), ...(sums.length > 0 ? sums : [sql`1 as one`])])}
    from ${from(by)} where ${where} and ${joined(by)} and ${passing(by.filters)}
    ${group.length > 0 ? sql`group by ${sql.join(group)}` : sql`having count(*) > 0`}`;
}

function summed(column: string, as: string): RawBuilder<unknown> {
  return sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(as)}`;
}

/** Sums, joined with their groups if names are needed. */
function from(by: GroupedBy): RawBuilder<unknown> {
  return hasNames(by) ? sql`usage u cross join usage_groups g` : sql`usage u`;
}

function joined(by: GroupedBy): RawBuilder<unknown> {
  return hasNames(by) ? sql`g.id = u.grp` : sql`true`;
}

function hasNames({ groupBy, filters }: GroupedBy): boolean {
  return groupBy.length > 0 || Object.values(filters).some((filter) => filter !== undefined);
}

function startOf({ part, stepMs }: GroupedBy): RawBuilder<unknown> {
  const per = periodsIn(part.span, stepMs ?? 0);
  return per === 1 ? sql`u.period` : sql`(u.period / ${sql.lit(per)})`;
}

/** Start of the interval in Unix milliseconds, then the names. */
function selectedOf(by: GroupedBy): readonly RawBuilder<unknown>[] {
  const { part, stepMs } = by;
  const start =
    stepMs === null
      ? sql`0 as start`
      : sql`${startOf(by)} * ${sql.lit(Math.max(periodMs(part.span), stepMs))} as start`;
  return [start, ...new Set(by.groupBy)].map((each) =>
    typeof each === 'string' ? sql`${sql.ref(`g.${each}`)}` : each,
  );
}

function groupsOf(by: GroupedBy): readonly RawBuilder<unknown>[] {
  const names = [...new Set(by.groupBy)].map((name) => sql`${sql.ref(`g.${name}`)}`);
  return by.stepMs === null ? names : [startOf(by), ...names];
}

/** Condition: groups match the filters. */
export function passing(filters: UsageQuery['filters']): RawBuilder<unknown> {
  const conditions = USAGE_DIMENSIONS.flatMap((name) => {
    const texts = filters[name];
    return texts ? [oneOf(`g.${name}`, texts)] : [];
  });
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}
