// Tries of jobs whose process was killed, and whose successor has another data directory. A process with the data
// directory of the mark decides whether the request was sent.
import { sql } from 'kysely';
import type { InterruptedTryStore } from '../../../accounts/ports/index.ts';
import type { Store } from '../database.ts';
import { table } from '../table.ts';

const INTERRUPTED_TRIES = table({
  name: 'interrupted_tries',
  columns: {
    record_id: 'id',
    /** Unix milliseconds by the database's clock. */
    at: 'number',
    detail: 'text',
  },
  key: ['record_id'],
  indexes: { interrupted_tries_by_age: ['at', 'record_id'] },
  since: 7,
});

export const interruptedTries: Store<InterruptedTryStore> = {
  tables: [INTERRUPTED_TRIES],
  open({ on, dialect, write, read, clock }) {
    const db = on(INTERRUPTED_TRIES);
    return {
      async add({ recordId, detail }) {
        await write(
          db
            .insertInto('interrupted_tries')
            .values({ record_id: recordId, at: clock(), detail })
            .onConflict((conflict) => conflict.column('record_id').doNothing()),
        );
      },
      async list(limit) {
        return read(
          db
            .selectFrom('interrupted_tries')
            .select(['record_id as recordId', 'detail', sql<number>`${clock()} - at`.as('ageMs')])
            .orderBy('at')
            .orderBy('record_id')
            .limit(limit),
        );
      },
      async delete(recordIds) {
        await write(db.deleteFrom('interrupted_tries').where(dialect.among('record_id', recordIds)));
      },
    };
  },
};
