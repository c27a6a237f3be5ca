// What reports of usage are like, whichever database they are read from.
import { GatewayError } from '../../canonical/index.ts';
import type { UsageQuery, UsageRow } from '../usage-ports.ts';
import { DAY_HOURS, HOUR_MS } from './hours.ts';

/** The most that a report may have: it is held in memory as a whole. */
export const MOST_REPORT_ROWS = 10_000;

export const DAY_MS = DAY_HOURS * HOUR_MS;

/** When the interval begins that a time lies in. */
export function intervalOf(ms: number, interval: NonNullable<UsageQuery['interval']>): number {
  if (interval === 'hour') return Math.floor(ms / HOUR_MS) * HOUR_MS;
  if (interval === 'day') return Math.floor(ms / DAY_MS) * DAY_MS;
  const date = new Date(ms);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

export function byTimeAndCost(a: UsageRow, b: UsageRow): number {
  return (
    (a.startMs ?? 0) - (b.startMs ?? 0) ||
    b.sums.counts.nano_usd - a.sums.counts.nano_usd ||
    b.sums.counts.requests - a.sums.counts.requests
  );
}

export function tooManyRows(): GatewayError {
  return new GatewayError(
    'invalid_request',
    `the answer would have more than ${MOST_REPORT_ROWS.toLocaleString('en')} rows: ask for a shorter time, longer intervals, or fewer groups`,
  );
}
