// Times: in queries ISO 8601, or Unix seconds as OpenAI's administration API has them; in answers ISO 8601.
import { z } from 'zod';
import { startOfDay } from '../../accounts/usage/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** Form of a time: ISO 8601, or Unix seconds. */
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

/** Unix milliseconds, or a day whose beginning is meant: `2026-11-23`. */
export type Moment = number | string;

/** Unix milliseconds. Days begin in the time zone of the operator. */
export function momentMs(moment: Moment, timeZone: string): UnixMs;
export function momentMs(moment: Moment | undefined, timeZone: string): UnixMs | undefined;
export function momentMs(moment: Moment | undefined, timeZone: string): UnixMs | undefined {
  return typeof moment === 'string' ? startOfDay(moment, timeZone) : moment;
}

/** As answers have it. @param unixMs null: there is none */
export function isoTime(unixMs: UnixMs | null): string | null {
  return unixMs === null ? null : new Date(unixMs).toISOString();
}
