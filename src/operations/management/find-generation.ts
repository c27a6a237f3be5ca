// Finds a record by the id of the answer or of the generation.
import { notFound } from '../../canonical/index.ts';
import { generationOf } from '../../base/runtime/ids.ts';
import type { LedgerStore } from '../../accounts/ports/index.ts';

type Found = NonNullable<Awaited<ReturnType<LedgerStore['findOfAnybody']>>>;

/** @throws GatewayError `not_found` */
export async function findGeneration(ledger: LedgerStore, given: string): Promise<Found> {
  const id = generationOf(given);
  const found = await ledger.findOfAnybody(id);
  if (found) return found;
  throw notFound('Generation', id, 'id');
}
