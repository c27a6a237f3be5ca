// Intervals of reports. Days and months follow the operator's time zone.
import { Calendar } from '../limits/index.ts';
import type { UnixMs } from '../../base/units.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const USAGE_INTERVALS = ['5m', '30m', 'hour', '6h', 'day', 'month'] as const;
export type UsageInterval = (typeof USAGE_INTERVALS)[number];

/** Retention of 5-minute sums, in milliseconds. */
export const MINUTES_KEPT_MS = 2 * DAY_MS;

/** Lengths in milliseconds. Null: not constant. */
const LENGTHS: Readonly<Record<UsageInterval, number | null>> = {
  '5m': 5 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  hour: HOUR_MS,
  '6h': 6 * HOUR_MS,
  day: DAY_MS,
  month: null,
};

export const UTC = 'UTC';

/** True when an interval is computed from 5-minute sums. */
export function isMinutes(interval: UsageInterval | null): boolean {
  return interval === '5m' || interval === '30m';
}

/** Length of all such intervals in milliseconds. Null: not constant. @param timeZone IANA name */
export function lengthOf(interval: UsageInterval, timeZone: string): number | null {
  return interval === 'day' && timeZone !== UTC ? null : LENGTHS[interval];
}

/**
 * Start of the interval that contains a time, and of the next one, in Unix milliseconds. Because sums are stored by
 * hours in UTC, days of a zone with a half-hour offset begin at the next whole hour.
 */
export function intervalAt(
  ms: number,
  interval: UsageInterval,
  timeZone: string = UTC,
): { readonly startMs: UnixMs; readonly endMs: UnixMs } {
  const length = lengthOf(interval, timeZone);
  if (length !== null) {
    const startMs = Math.floor(ms / length) * length;
    return { startMs, endMs: startMs + length };
  }
  const calendar = new Calendar(interval === 'month' ? 'month' : 'day', timeZone);
  const [startMs, endMs] = [wholeHour(calendar.startOf(ms)), wholeHour(calendar.endOf(ms))];
  // The previous interval ends at the whole hour.
  return ms < startMs ? intervalAt(startMs - HOUR_MS, interval, timeZone) : { startMs, endMs };
}

/** Start of a day (`2026-11-23`) in a time zone, in Unix milliseconds. @throws RangeError for an invalid day */
export function startOfDay(day: string, timeZone: string): number {
  return wholeHour(Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds);
}

function wholeHour(ms: number): number {
  return Math.ceil(ms / HOUR_MS) * HOUR_MS;
}
