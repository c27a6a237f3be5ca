// Times: ISO 8601 in answers; in queries also Unix seconds, as in OpenAI's administration API.
import { z } from 'zod';
import { startOfDay } from '../../accounts/usage/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** ISO 8601, or Unix seconds. */
const FORM =
  '^(?:\\d{1,11}|\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?(?:Z|[+-]\\d{2}:\\d{2}))?)$';

const iso = z.iso.datetime({ offset: true }).or(z.iso.date());

/** A time in a query. */
export const time = z
  .string()
  .refine((text) => iso.safeParse(text).success || /^\d{1,11}$/.test(text), {
    error: 'must be a time (ISO 8601) or Unix seconds',
  })
  .meta({ pattern: FORM })
  .transform((text): Moment => {
    if (/^\d+$/.test(text)) return Number(text) * 1000;
    return text.includes('T') ? Date.parse(text) : text;
  });

/** Unix milliseconds, or a day such as `2026-11-23`, which means its beginning. */
export type Moment = number | string;

/** Unix milliseconds. Days begin in the operator's time zone. */
export function momentMs(moment: Moment, timeZone: string): UnixMs;
export function momentMs(moment: Moment | undefined, timeZone: string): UnixMs | undefined;
export function momentMs(moment: Moment | undefined, timeZone: string): UnixMs | undefined {
  return typeof moment === 'string' ? startOfDay(moment, timeZone) : moment;
}

/** ISO 8601 for answers. @param unixMs null: none */
export function isoTime(unixMs: UnixMs | null): string | null {
  return unixMs === null ? null : new Date(unixMs).toISOString();
}
