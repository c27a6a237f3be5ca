// Times in queries: ISO 8601, or Unix seconds as OpenAI's administration API has them.
import { z } from 'zod';

const iso = z.iso.datetime({ offset: true }).or(z.iso.date());

/** Unix milliseconds of a time in a query. */
export const time = z
  .string()
  .refine((text) => iso.safeParse(text).success || /^\d{1,11}$/.test(text), {
    error: 'must be a time (ISO 8601) or Unix seconds',
  })
  .transform((text) => (/^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text)));
