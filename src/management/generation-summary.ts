// A request in a list, as the API describes it.
import { z } from 'zod';
import { generationSummaryView } from '../ledger/index.ts';
import type { ListedGeneration } from '../storage/ports.ts';
import { generationFacts } from './generation-schema.ts';

export const generationSummarySchema = z.looseObject({
  ...generationFacts,
  attempts: z.int().describe('How many there were.'),
});

export function generationSummary({
  generation,
  attempts,
}: ListedGeneration): z.input<typeof generationSummarySchema> {
  return generationSummaryView(generation, attempts) as z.input<typeof generationSummarySchema>;
}
