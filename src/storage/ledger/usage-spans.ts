// Chooses the rows of sums that cover a time range: whole days, hours, and 5-minute periods that are not folded yet.
import { USAGE_DIMENSIONS, type UsageDimension, type UsageQuery } from '../../accounts/ports/index.ts';
import { intervalAt, isMinutes, lengthOf, UTC } from '../../accounts/usage/index.ts';
import { type FoldedUpTo, hoursOf } from './report-queries.ts';
import {
  DAY,
  FIVE,
  FIVE_MINUTES_PER_HOUR,
  HOUR,
  HOUR_MS,
  HOURS,
  MINUTES_5_MS,
  periodMs,
  TOTALS_BY,
  totalsSpan,
} from './usage-tables.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Periods of a span, from `from` (inclusive) to `to` (exclusive). */
export interface SpanPart {
  readonly span: number;
  readonly from: number;
  readonly to: number;
}

/** Hours since 1970, from `from` (inclusive) to `to` (exclusive). */
export interface HourRange {
  readonly from: number;
  readonly to: number;
}

/** Rows to read: the finest period needed, and totals by one name (`undefined`: of all requests) if they suffice. */
export interface SpanChoice {
  readonly finest: 'hour' | 'day';
  /** Absent: rows of all groups. */
  readonly totals?: { readonly by: UsageDimension | undefined } | undefined;
}

/** Greater than every period. */
export const NO_END = 2_000_000_000;

/** Splits hours into non-empty parts, each covered by rows of one span. */
export function spanParts(
  { from, to }: HourRange,
  folded: FoldedUpTo,
  { finest, totals }: SpanChoice,
): readonly SpanPart[] {
  const spanOf = (of: typeof HOUR | typeof DAY): number => (totals ? totalsSpan(of, totals.by) : of);
  const edge = Math.min(Math.max(from, folded.hour), to);
  const firstDay = Math.ceil(from / HOURS);
  const endDay = Math.max(firstDay, Math.floor(edge / HOURS));
  const hasDays = finest === 'day' && firstDay < endDay;
  const parts: SpanPart[] = hasDays
    ? [
        { span: spanOf(HOUR), from, to: firstDay * HOURS },
        { span: spanOf(DAY), from: firstDay, to: endDay },
        { span: spanOf(HOUR), from: endDay * HOURS, to: edge },
      ]
    : [{ span: spanOf(HOUR), from, to: edge }];
  parts.push({
    span: FIVE,
    from: edge * FIVE_MINUTES_PER_HOUR,
    to: Math.min(to * FIVE_MINUTES_PER_HOUR, NO_END),
  });
  return parts.filter((part) => part.from < part.to);
}

/** Number of periods per interval. */
export function periodsIn(span: number, intervalMs: DurationMs): number {
  return Math.max(1, Math.floor(intervalMs / periodMs(span)));
}

/** Totals that suffice for a query. `undefined`: it needs several names, or a name without totals. */
export function totalsFor({
  groupBy,
  filters,
}: Pick<UsageQuery, 'groupBy' | 'filters'>): { readonly by: UsageDimension | undefined } | undefined {
  const asked = USAGE_DIMENSIONS.filter((name) => groupBy.includes(name) || filters[name] !== undefined);
  return asked.length > 1 || !TOTALS_BY.includes(asked[0]) ? undefined : { by: asked[0] };
}

/** Part of a report's time range. */
export interface UsagePart extends SpanPart {
  /** Start of the interval that contains the whole part, in Unix milliseconds. Absent: computed from the rows. */
  readonly startMs?: UnixMs;
}

/**
 * The report's time range, widened to whole periods (Unix milliseconds), and the rows that cover it.
 * @param known time range in which rows may exist
 */
export function partsOf(
  query: UsageQuery,
  folded: FoldedUpTo,
  known: Pick<UsageQuery, 'fromMs' | 'toMs'>,
): { readonly fromMs: UnixMs; readonly toMs: UnixMs; readonly parts: readonly UsagePart[] } {
  const { interval, timeZone = UTC } = query;
  const beginMs = interval === null ? query.fromMs : intervalAt(query.fromMs, interval, timeZone).startMs;
  if (isMinutes(interval) || query.byMinutes === true) {
    const [from, to] = [Math.floor(beginMs / MINUTES_5_MS), Math.ceil(query.toMs / MINUTES_5_MS)];
    const parts = from < to ? [{ span: FIVE, from, to: Math.min(to, NO_END) }] : [];
    return { fromMs: from * MINUTES_5_MS, toMs: to * MINUTES_5_MS, parts };
  }
  const hours = hoursOf(beginMs, query.toMs);
  const totals = totalsFor(query);
  const range = { fromMs: hours.from * HOUR_MS, toMs: hours.to * HOUR_MS };
  if (interval === null || lengthOf(interval, timeZone) !== null) {
    const finest = interval === 'hour' || interval === '6h' ? 'hour' : 'day';
    return { ...range, parts: spanParts(hours, folded, { finest, totals }) };
  }
  // The database cannot compute months or time zones, so each interval is queried separately.
  const parts: UsagePart[] = [];
  const [beginsMs, endsMs] = [Math.max(beginMs, known.fromMs), Math.min(range.toMs, known.toMs)];
  for (let at = intervalAt(beginsMs, interval, timeZone); at.startMs < endsMs;) {
    const own = hoursOf(Math.max(at.startMs, range.fromMs), Math.min(at.endMs, range.toMs));
    const { startMs } = at;
    parts.push(...spanParts(own, folded, { finest: 'day', totals }).map((part) => ({ ...part, startMs })));
    at = intervalAt(at.endMs, interval, timeZone);
  }
  return { ...range, parts };
}
