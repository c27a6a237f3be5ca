// A record by the id that people have of it: that of the answer, or of the generation itself.
import { GatewayError } from '../../canonical/index.ts';
import type { LedgerStore } from '../../accounts/ports/index.ts';

type Found = NonNullable<Awaited<ReturnType<LedgerStore['findOfAnybody']>>>;

/** @throws GatewayError `not_found` */
export async function findGeneration(ledger: LedgerStore, given: string): Promise<Found> {
  // Each protocol puts its own prefix before the id of the generation, which has no underscore.
  const id = given.slice(given.lastIndexOf('_') + 1);
  const found = await ledger.findOfAnybody(id);
  if (found) return found;
  throw new GatewayError('not_found', `There is no generation ${JSON.stringify(id.slice(0, 100))}.`);
}
