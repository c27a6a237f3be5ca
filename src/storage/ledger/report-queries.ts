// Shared parts of report queries.
import { type RawBuilder, sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import { firstOf, type Queries } from '../tables/database.ts';
import { settingOf } from '../tables/installation/settings.ts';
import type { HourRange } from './usage-spans.ts';
import { FOLDED, HOUR_MS, PURGED_BEFORE } from './usage-tables.ts';
import type { UnixMs } from '../../base/units.ts';

/** Maximum number of rows of a report, because it is held in memory. */
export const MOST_REPORT_ROWS = 10_000;

/** Hours that overlap a time range. */
export function hoursOf(fromMs: UnixMs, toMs: UnixMs): HourRange {
  return { from: Math.floor(fromMs / HOUR_MS), to: Math.ceil(toMs / HOUR_MS) };
}

/** Folding progress: all earlier hours, and of this hour all groups with smaller ids. */
export interface FoldedUpTo {
  /** Hours since 1970. */
  readonly hour: number;
  readonly group: number;
  /** Range of group ids per step within the hour. Absent: the hour has not been started. */
  readonly step?: number;
}

export const NOTHING_FOLDED: FoldedUpTo = { hour: 0, group: 0 };

/** Folding progress. */
export function* foldedUpTo(): Queries<FoldedUpTo> {
  const progress = yield* settingOf(FOLDED);
  return progress === undefined ? NOTHING_FOLDED : (JSON.parse(progress) as FoldedUpTo);
}

/** Time before which records were deleted, in Unix milliseconds. 0: none were. */
export function* purgedBefore(): Queries<UnixMs> {
  return Number((yield* settingOf(PURGED_BEFORE)) ?? 0);
}

/** Condition: a column has one of a few values. */
export function oneOf(column: string, values: readonly (string | number)[]): RawBuilder<unknown> {
  return values.length === 0 ? sql`false` : sql`${sql.ref(column)} in (${sql.join(values)})`;
}

export function tooManyRows(): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The report would have more than ${MOST_REPORT_ROWS.toLocaleString('en')} rows. Use a shorter period, longer intervals or fewer groups.`,
  );
}

/** The first (`asc`) or last (`desc`) period of a span that has rows. @param from first period that counts */
export function* edgeOf(span: number, order: 'asc' | 'desc', from = 0): Queries<number | undefined> {
  const direction = sql.raw(order);
  const row = yield* firstOf(sql<{ period: number }>`
    select period from usage where span = ${sql.lit(span)} and period >= ${from}
    order by span ${direction}, period ${direction} limit 1`);
  return row?.period;
}
