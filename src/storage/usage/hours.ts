// Hours and days of sums: whole ones since 1970, UTC.

export const HOUR_MS = 3_600_000;
export const DAY_HOURS = 24;

/** Hours from the first on, and before the second. */
export interface HourSpan {
  readonly from: number;
  readonly to: number;
}

/** The hours that a time lies in, as a whole. */
export function hoursOf(fromMs: number, toMs: number): HourSpan {
  return { from: Math.floor(fromMs / HOUR_MS), to: Math.ceil(toMs / HOUR_MS) };
}
