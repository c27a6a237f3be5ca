// Ledger sums under all names of their models, because limits may name a model by id, endpoint or another model served
// alike. Spend before a start counts for all of them.
import { countedNames } from '../../../canonical/index.ts';
import type { LedgerSum, LedgerSums } from '../../../accounts/limits/index.ts';
import type { Catalog } from '../../../catalog/index.ts';

/** @param catalog the current one */
export function countedLedger(ledger: LedgerSums, catalog: () => Pick<Catalog, 'find'>): LedgerSums {
  return {
    async *read(query) {
      const names = new Map<string, string>();
      const counted = (sum: LedgerSum): LedgerSum => {
        const asked = `${sum.model}\n${sum.endpoint}`;
        let model = names.get(asked);
        if (model === undefined) names.set(asked, (model = namesOf(sum, catalog())));
        return { ...sum, model };
      };
      for await (const sums of ledger.read(query)) yield sums.map(counted);
    },
  };
}

/** Names at the endpoint that answered, or at all endpoints if it is unknown or no longer exists. */
function namesOf({ model, endpoint }: LedgerSum, catalog: Pick<Catalog, 'find'>): string {
  const endpoints = catalog.find(model)?.endpoints ?? [];
  const answered = endpoints.filter(({ slug }) => slug === endpoint);
  const names = (answered.length > 0 ? answered : endpoints).flatMap(({ countedAs }) => countedAs?.() ?? []);
  return countedNames([model, ...names]);
}
