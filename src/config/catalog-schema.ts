// The `catalog` block of the configuration: where newer prices and models come from.
import { z } from 'zod';

export interface CatalogSource {
  /** Address or path; null: only what is bundled is known. */
  readonly refresh: string | null;
  readonly everyMs: number;
}

export const catalogSchema = z
  .strictObject({
    refresh: z
      .string()
      .min(1)
      .max(2000)
      .optional()
      .describe(
        'Address or file with newer prices and models, in the form of `genai-prices` (`data.json`). Default: none; only what came with the gateway is known.',
      ),
    every_hours: z
      .number()
      .min(0.1)
      .max(24 * 30)
      .default(24)
      .describe('Hours between two looks. A file is also read when it changes.'),
  })
  .prefault({})
  .describe('What is known of models and prices.');

const HOUR_MS = 3_600_000;

/** Converts the checked block. */
export function toCatalogSource({ refresh, every_hours }: z.output<typeof catalogSchema>): CatalogSource {
  return { refresh: refresh ?? null, everyMs: every_hours * HOUR_MS };
}
