// Several queries as one transaction of PostgreSQL.
import type { Transact } from '../state/transact.ts';
import type { PostgresBase } from './store.ts';

export function transactOf({ transaction }: Pick<PostgresBase, 'transaction'>): Transact {
  return (queries) =>
    transaction(async (tx) => {
      const asking = queries();
      let asked = asking.next([]);
      while (!asked.done) asked = asking.next((await tx.executeQuery<object>(asked.value)).rows);
      return asked.value;
    });
}
