// Responses of the management API under idempotency keys. They are encrypted.
import type { ManagementAnswer, ManagementAnswerStore } from '../../../accounts/ports/index.ts';
import type { Store } from '../database.ts';
import { table } from '../table.ts';

/** Maximum number of stored responses. The oldest are evicted. */
const MOST = 1000;

const MANAGEMENT_ANSWERS = table({
  name: 'management_answers',
  columns: {
    id: 'text',
    fingerprint: 'text',
    /** Id of the attempt that produces the response. */
    run: 'text',
    /** Encrypted response. `null`: still running. */
    sealed: 'text?',
    /** Unix milliseconds. */
    until_at: 'number',
  },
  key: ['id'],
});

export const managementAnswers: Store<ManagementAnswerStore> = {
  tables: [MANAGEMENT_ANSWERS],
  open({ on, transact, write }) {
    const db = on(MANAGEMENT_ANSWERS);
    return {
      claim: ({ id, fingerprint, run, until }, nowMs) =>
        transact(function* () {
          yield db.deleteFrom('management_answers').where('until_at', '<=', nowMs);
          const surplus = db
            .selectFrom('management_answers')
            .select('id')
            .where('sealed', 'is not', null)
            .orderBy('until_at', 'desc')
            .limit(MOST)
            .offset(MOST);
          yield db.deleteFrom('management_answers').where('id', 'in', surplus);
          const taken = yield db
            .insertInto('management_answers')
            .values({ id, fingerprint, run, sealed: null, until_at: until })
            .onConflict((conflict) => conflict.column('id').doNothing())
            .returning('id');
          if (taken.length > 0) return null;
          const found = yield db
            .selectFrom('management_answers')
            .select(['fingerprint', 'sealed'])
            .where('id', '=', id);
          return (found[0] ?? null) as ManagementAnswer | null;
        }),
      async keep({ id, run }, sealed, until) {
        const kept = db.updateTable('management_answers').set({ sealed, until_at: until });
        await write(kept.where('id', '=', id).where('run', '=', run));
      },
      async drop({ id, run }) {
        await write(db.deleteFrom('management_answers').where('id', '=', id).where('run', '=', run));
      },
    };
  },
};
