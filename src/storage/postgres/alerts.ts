// Which events operators were told of, and when, by whichever process was first. Knows nothing of what they are.
import type { Kysely } from 'kysely';
import type { AlertStore } from '../ports.ts';
import type { PostgresStore } from './store.ts';

/** After which an event is forgotten, and would be told again if it were still the case. */
const KEPT_MS = 400 * 86_400_000;

/** Only this store knows the table. */
interface Tables {
  alerts: {
    /** Names the event. */
    id: string;
    /** Unix milliseconds. */
    told_at: number;
  };
}

export const postgresAlerts: PostgresStore<AlertStore> = {
  migrations: [
    {
      name: 'alerts that were told',
      isAdditive: true,
      up: (db) =>
        db.schema
          .createTable('alerts')
          .addColumn('id', 'text', (column) => column.primaryKey())
          .addColumn('told_at', 'bigint', (column) => column.notNull())
          .execute(),
    },
  ],
  open: ({ db }) => {
    const tables = db as unknown as Kysely<Tables>;
    return {
      async claim(id, nowMs, quietMs) {
        await tables
          .deleteFrom('alerts')
          .where('told_at', '<', nowMs - KEPT_MS)
          .execute();
        // One statement: of two processes that claim at once, the second waits for the first and finds it told.
        const told = await tables
          .insertInto('alerts')
          .values({ id, told_at: nowMs })
          .onConflict((conflict) =>
            conflict
              .column('id')
              .doUpdateSet((eb) => ({ told_at: eb.ref('excluded.told_at') }))
              .where('alerts.told_at', '<=', Math.max(nowMs - quietMs, -1)),
          )
          .returning('id')
          .executeTakeFirst();
        return told !== undefined;
      },
    };
  },
};
