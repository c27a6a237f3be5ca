// Transactions that are tried again when another one was in their way: the one place that does.
import type { Kysely, Transaction } from 'kysely';
import { isRepeatable } from './failures.ts';

/** Times that a transaction is tried. */
const ROUNDS = 6;
/** The longest wait before the second try, in milliseconds; twice as long before each further one. */
const PAUSE_MS = 10;

/** Runs work in a transaction, from the beginning again after a deadlock or a conflict. It must have no other effects. */
export async function inTransaction<Tables, T>(
  db: Kysely<Tables>,
  work: (tx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (round === ROUNDS || !isRepeatable(error)) throw error;
      // Random pauses keep transactions from meeting again.
      const most = PAUSE_MS * 2 ** (round - 1);
      await new Promise((resolve) => void setTimeout(resolve, Math.random() * most));
    }
  }
}
