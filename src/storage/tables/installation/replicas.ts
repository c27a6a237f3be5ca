// Processes that share a PostgreSQL database, one row each. A process writes only its own row, so that concurrent starts do
// not conflict.
import { sql } from 'kysely';
import type { ReplicaStore } from '../../../accounts/ports/index.ts';
import type { Store } from '../database.ts';
import { table } from '../table.ts';

const REPLICAS = table({
  name: 'replicas',
  columns: {
    /** Name of a process. */
    name: 'id',
    /** Unix milliseconds by the server's clock. */
    until_at: 'number',
  },
  key: ['name'],
  only: 'postgres',
  isLocal: true,
});

export const replicas: Store<ReplicaStore> = {
  tables: [REPLICAS],
  open({ on, dialect, write, read }) {
    const db = on(REPLICAS);
    const now = dialect.nowMs(0);
    return {
      async present(self, forMs) {
        const until = sql<number>`${now} + ${forMs}::bigint`;
        await write(db.deleteFrom('replicas').where('until_at', '<', now));
        await write(
          db
            .insertInto('replicas')
            .values({ name: self, until_at: until })
            .onConflict((conflict) => conflict.column('name').doUpdateSet({ until_at: until })),
        );
        const others = db.selectFrom('replicas').select(['name', 'until_at as until']).orderBy('name');
        return read(others.where('name', '<>', self).where('until_at', '>', now));
      },
    };
  },
};
