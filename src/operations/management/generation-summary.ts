// Schema of a request in a list.
import { TEXTS } from '../../canonical/index.ts';
import { z } from 'zod';
import { generationSummaryView } from '../../accounts/ledger/index.ts';
import type { ListedGeneration } from '../../accounts/ports/index.ts';
import { generationFacts } from './generation-schema.ts';

export const generationSummarySchema = z.looseObject({
  ...generationFacts,
  attempts: z.int().describe('Number of requests.'),
  key_name: z.string().nullable().optional().describe(TEXTS.goneKey),
});

export function generationSummary({
  generation,
  attempts,
}: ListedGeneration): z.input<typeof generationSummarySchema> {
  return generationSummaryView(generation, attempts) as z.input<typeof generationSummarySchema>;
}
