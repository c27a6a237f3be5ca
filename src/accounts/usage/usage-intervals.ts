// Intervals of reports: where each begins, in the time zone of the operator where it is a day or a month.
import { Calendar } from '../limits/index.ts';
import type { UnixMs } from '../../base/units.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const USAGE_INTERVALS = ['5m', '30m', 'hour', '6h', 'day', 'month'] as const;
export type UsageInterval = (typeof USAGE_INTERVALS)[number];

/** Sums of 5 minutes are kept for so long, in milliseconds. */
export const MINUTES_KEPT_MS = 2 * DAY_MS;

/** Lengths in milliseconds. Null: of different lengths. */
const LENGTHS: Readonly<Record<UsageInterval, number | null>> = {
  '5m': 5 * MINUTE_MS,
  '30m': 30 * MINUTE_MS,
  hour: HOUR_MS,
  '6h': 6 * HOUR_MS,
  day: DAY_MS,
  month: null,
};

export const UTC = 'UTC';

/** Whether it is made of sums of 5 minutes. */
export function isMinutes(interval: UsageInterval | null): boolean {
  return interval === '5m' || interval === '30m';
}

/** Milliseconds of every such interval. Null: they differ. @param timeZone name of the IANA database */
export function lengthOf(interval: UsageInterval, timeZone: string): number | null {
  return interval === 'day' && timeZone !== UTC ? null : LENGTHS[interval];
}

/**
 * When the interval begins that a time lies in, and when the next one does (Unix milliseconds). Sums are kept by hours of UTC: where
 * a zone is half an hour off, its days begin with the next whole one.
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
  // The interval of before goes on until the whole hour.
  return ms < startMs ? intervalAt(startMs - HOUR_MS, interval, timeZone) : { startMs, endMs };
}

/** Unix milliseconds at which a day (`2026-11-23`) begins in a time zone. @throws RangeError for what is no day */
export function startOfDay(day: string, timeZone: string): number {
  return wholeHour(Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds);
}

function wholeHour(ms: number): number {
  return Math.ceil(ms / HOUR_MS) * HOUR_MS;
}
