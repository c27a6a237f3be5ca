// A request in a list: what its record says, without what takes long to read.
import { z } from 'zod';
import type { JsonObject } from '../canonical/index.ts';
import { generationView } from '../ledger/index.ts';
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
  const { route: _route, report: _report, content: _content, ...view } = generationView(generation, attempts);
  return { ...(view as JsonObject), attempts: attempts.length } as z.input<typeof generationSummarySchema>;
}
