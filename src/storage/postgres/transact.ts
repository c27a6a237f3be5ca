// Several queries as one transaction of PostgreSQL, and no two of these at once: what one has read is so until it has written.
import { sql } from 'kysely';
import type { Transact } from '../state/transact.ts';
import type { PostgresBase } from './store.ts';

/** Names the lock of changes of keys and projects: any number that nobody else takes in this database. */
const CHANGE_LOCK = 7_283_641_095_518_338;

export function transactOf({ transaction }: Pick<PostgresBase, 'transaction'>): Transact {
  return (queries) =>
    transaction(async (tx) => {
      await sql`select pg_advisory_xact_lock(${CHANGE_LOCK})`.execute(tx);
      const asking = queries();
      let asked = asking.next([]);
      while (!asked.done) asked = asking.next((await tx.executeQuery<object>(asked.value)).rows);
      return asked.value;
    });
}
