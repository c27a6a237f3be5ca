// The `catalog` block of the configuration: where newer prices and models come from.
import { inProgram, orNull } from '../../../catalog/schema/index.ts';
import { z } from 'zod';

export const catalogSchema = inProgram(
  z.strictObject({
    refresh: orNull(z.string().min(1).max(2000)).describe(
      'URL or file with newer prices and models, in the format of `genai-prices` (`data.json`). Default: only the bundled data.',
    ),
    only_known: z
      .boolean()
      .default(false)
      .describe(
        'Respond with 404 for models that are neither configured nor in the catalog. By default `<provider>/<any name>` works for every enabled provider.',
      ),
    every_hours: z
      .number()
      .min(0.1)
      .max(24 * 30)
      .default(24)
      .describe('Hours between updates. A file is also read when it changes.'),
  }),
)
  .prefault({})
  .describe('Source of models and prices.');
