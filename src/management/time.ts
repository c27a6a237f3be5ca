// Times: in queries ISO 8601, or Unix seconds as OpenAI's administration API has them; in answers ISO 8601.
import { z } from 'zod';

const iso = z.iso.datetime({ offset: true }).or(z.iso.date());

/** Unix milliseconds of a time in a query. */
export const time = z
  .string()
  .refine((text) => iso.safeParse(text).success || /^\d{1,11}$/.test(text), {
    error: 'must be a time (ISO 8601) or Unix seconds',
  })
  .transform((text) => (/^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text)));

/** As answers have it. @param unixMs null: there is none */
export function isoTime(unixMs: number | null): string | null {
  return unixMs === null ? null : new Date(unixMs).toISOString();
}
