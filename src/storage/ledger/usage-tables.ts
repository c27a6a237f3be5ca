// The tables of sums. A row sums up the requests of a period that agree in a group of names. Totals by one name are rows whose
// group has all other names empty; they lie apart, so that a report reads no more than it needs.
import { USAGE_COUNTS } from '../../accounts/usage/index.ts';
import { table } from '../tables/table.ts';
import { USAGE_DIMENSIONS, type UsageDimension } from '../../accounts/ports/index.ts';
import type { DurationMs } from '../../base/units.ts';

export const MINUTES_5_MS = 300_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Length of a row's period: 5 minutes, an hour or a day since 1970, in UTC. Totals follow. Stored: numbers stay. */
export const FIVE = 0;
export const HOUR = 1;
export const DAY = 2;
const HOUR_TOTALS = 10;
const DAY_TOTALS = 30;

/** A number behind those of all groups. */
export const GROUP_NUMBERS = 2 ** 48;

/** 5-minute periods of an hour, hours of a day. */
export const FIVES = 12;
export const HOURS = 24;

/**
 * Names that have totals; undefined: all requests together. Not keys, of which there may be thousands: their totals would be as
 * many as the rows that they sum up.
 */
export const TOTALS_BY: readonly (UsageDimension | undefined)[] = [
  undefined,
  ...USAGE_DIMENSIONS.filter((name) => name !== 'key'),
];

/** The span of totals by one name, or of all requests. */
export function totalsSpan(of: typeof HOUR | typeof DAY, by: UsageDimension | undefined): number {
  const first = of === HOUR ? HOUR_TOTALS : DAY_TOTALS;
  return by === undefined ? first : first + 1 + USAGE_DIMENSIONS.indexOf(by);
}

/** Milliseconds of a span's periods. */
export function periodMs(span: number): DurationMs {
  if (span === FIVE) return MINUTES_5_MS;
  return span === HOUR || (span >= HOUR_TOTALS && span < DAY_TOTALS) ? HOUR_MS : DAY_MS;
}

/** Spans of hours, and of days, their totals among them. */
export const HOUR_SPANS: readonly number[] = spansOf(HOUR);
export const DAY_SPANS: readonly number[] = spansOf(DAY);

function spansOf(of: typeof HOUR | typeof DAY): readonly number[] {
  return [of, ...TOTALS_BY.map((by) => totalsSpan(of, by))];
}

/** Groups of names. Empty: none. */
export const USAGE_GROUPS = table({
  name: 'usage_groups',
  columns: {
    /** Follows from the names. */
    id: 'number',
    project: 'id',
    key: 'id',
    model: 'id',
    provider: 'id',
    endpoint: 'id',
    protocol: 'id',
    requested_model: 'id',
    outcome: 'id',
  },
  key: ['id'],
  // The numbers are too large to be added up.
  renumbered: ['id'],
});

export const USAGE = table({
  name: 'usage',
  columns: {
    span: 'small',
    period: 'number',
    grp: 'number',
    ...(Object.fromEntries(USAGE_COUNTS.map((name) => [name, 'number'])) as Record<
      (typeof USAGE_COUNTS)[number],
      'number'
    >),
    /** Counts by name or bucket, in the form of `packed-details.ts`. */
    details: 'text',
  },
  key: ['span', 'period', 'grp'],
  renumbered: ['grp'],
  clustered: true,
  // Room in each page for the next version of a row: most rows change often while their period runs.
  ending: { postgres: 'with (fillfactor = 70)' },
  // Index for reports of few groups over months. SQLite finds these rows by its key as fast.
  extras: {
    postgres: [`create index usage_of_groups on usage (grp, span, period) where span in (${HOUR}, ${DAY})`],
  },
});

/** Sums of an hour by end user. */
export const USAGE_END_USERS = table({
  name: 'usage_end_users',
  columns: {
    /** Hours since 1970. */
    period: 'number',
    project: 'id',
    /** 32 hexadecimal characters. Empty: all for whom the hour had no room. */
    end_user: 'id',
    key: 'id',
    model: 'id',
    requests: 'number',
    errors: 'number',
    charged_errors: 'number',
    tool_turns: 'number',
    input_tokens: 'number',
    output_tokens: 'number',
    nano_usd: 'number',
    unpriced: 'number',
  },
  key: ['period', 'project', 'end_user', 'key', 'model'],
  clustered: true,
  ending: { postgres: 'with (fillfactor = 70)' },
});

/** The setting that says how far rows of 5 minutes are in the rows of their hours and days: hour and group. */
export const FOLDED = 'usage_folded';
/** The setting that says before which time (Unix milliseconds) records were deleted. */
export const PURGED_BEFORE = 'usage_purged_before';
