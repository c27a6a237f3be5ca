// Tables of sums. A row holds the sums of one group for one period. Totals by one name are rows of a group whose other
// names are empty. They have their own spans, so that reports read no more rows than needed.
import { USAGE_COUNTS } from '../../accounts/usage/index.ts';
import { table } from '../tables/table.ts';
import { USAGE_DIMENSIONS, type UsageDimension } from '../../accounts/ports/index.ts';
import type { DurationMs } from '../../base/units.ts';

export const MINUTES_5_MS = 300_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/**
 * Spans: the length of a row's period, which is 5 minutes, an hour or a day since 1970, in UTC. Spans of totals follow.
 * Stored, so the numbers must not change.
 */
export const FIVE = 0;
export const HOUR = 1;
export const DAY = 2;
const HOUR_TOTALS = 10;
const DAY_TOTALS = 30;

/** Greater than every group id. */
export const GROUP_NUMBERS = 2 ** 48;

/** 5-minute periods per hour, and hours per day. */
export const FIVE_MINUTES_PER_HOUR = 12;
export const HOURS = 24;

/**
 * Names that have totals; `undefined`: all requests. Keys have none: there may be thousands, and their totals would be
 * as many as the rows they sum up.
 */
export const TOTALS_BY: readonly (UsageDimension | undefined)[] = [
  undefined,
  ...USAGE_DIMENSIONS.filter((name) => name !== 'key'),
];

/** Span of totals by one name, or of all requests. */
export function totalsSpan(of: typeof HOUR | typeof DAY, by: UsageDimension | undefined): number {
  const first = of === HOUR ? HOUR_TOTALS : DAY_TOTALS;
  return by === undefined ? first : first + 1 + USAGE_DIMENSIONS.indexOf(by);
}

/** Length of a span's periods. */
export function periodMs(span: number): DurationMs {
  if (span === FIVE) return MINUTES_5_MS;
  return span === HOUR || (span >= HOUR_TOTALS && span < DAY_TOTALS) ? HOUR_MS : DAY_MS;
}

/** Spans with periods of an hour, and of a day, including totals. */
export const HOUR_SPANS: readonly number[] = spansOf(HOUR);
export const DAY_SPANS: readonly number[] = spansOf(DAY);

function spansOf(of: typeof HOUR | typeof DAY): readonly number[] {
  return [of, ...TOTALS_BY.map((by) => totalsSpan(of, by))];
}

/** Empty names: none. */
export const USAGE_GROUPS = table({
  name: 'usage_groups',
  columns: {
    /** Hash of the names. */
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
  // Group ids are too large for sums.
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
  // Free space in each page for the next version of a row, because most rows change often during their period.
  ending: { postgres: 'with (fillfactor = 70)' },
  // Index for reports about few groups over months. In SQLite the primary key is as fast.
  extras: {
    postgres: [`create index usage_of_groups on usage (grp, span, period) where span in (${HOUR}, ${DAY})`],
  },
});

/** Sums by hour and end user. */
export const USAGE_END_USERS = table({
  name: 'usage_end_users',
  columns: {
    /** Hours since 1970. */
    period: 'number',
    project: 'id',
    /** 32 hexadecimal characters. Empty: all requests beyond the limit of rows. */
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

/** Setting with the folding progress, as hour and group. */
export const FOLDED = 'usage_folded';
/** Setting with the time (Unix milliseconds) before which records were deleted. */
export const PURGED_BEFORE = 'usage_purged_before';
