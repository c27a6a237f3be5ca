// Which events operators were told of, and when: one row each. Knows nothing of what they are.
import type { Kysely } from 'kysely';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import type { GroupCommit } from './group-commit.ts';
import type { AlertStore } from '../ports.ts';
import type { SqliteBase, SqliteStore } from './store.ts';

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

class SqliteAlerts implements AlertStore {
  readonly #commits: GroupCommit;
  /** Binds id, now, the time before which it may be told again. */
  readonly #claim: SqlStatement;
  /** Binds a time. */
  readonly #forget: SqlStatement;

  constructor({ connection, db, commits }: SqliteBase) {
    this.#commits = commits;
    const tables = db as unknown as Kysely<Tables>;
    const claim = tables
      .insertInto('alerts')
      .values({ id: '', told_at: 0 })
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet((eb) => ({ told_at: eb.ref('excluded.told_at') }))
          .where('alerts.told_at', '<=', 0),
      );
    this.#claim = connection.prepare(claim.compile().sql);
    this.#forget = connection.prepare(tables.deleteFrom('alerts').where('told_at', '<', 0).compile().sql);
  }

  claim(id: string, nowMs: number, quietMs: number): Promise<boolean> {
    return this.#commits.run(() => {
      this.#forget.run(nowMs - KEPT_MS);
      return this.#claim.run(id, nowMs, Math.max(nowMs - quietMs, -1)).changes > 0;
    });
  }
}

export const sqliteAlerts: SqliteStore<AlertStore> = {
  migrations: [
    {
      name: 'alerts that were told',
      isAdditive: true,
      up: (db) =>
        db.schema
          .createTable('alerts')
          .addColumn('id', 'text', (column) => column.primaryKey().notNull())
          .addColumn('told_at', 'integer', (column) => column.notNull())
          .execute(),
    },
  ],
  open: (base) => new SqliteAlerts(base),
};
