// The audit log in SQLite: who changed what, when, and from where. Entries are added and purged, never changed.
import type { Kysely } from 'kysely';
import type { AuditStore } from '../ports.ts';
import { auditInsert, listAudit } from '../state/audit-rows.ts';
import type { Schema } from './schema.ts';
import type { SqliteStore } from './store.ts';
import { transactOf } from './transact.ts';

/** Rows deleted with one statement. */
const PURGE_ROWS = 5;

export const auditStore: SqliteStore<AuditStore> = {
  migrations: [{ name: 'audit log', up: makeTable, isAdditive: true }],
  open: (base) => {
    const { db, steps, connection } = base;
    const transact = transactOf(base);
    const old = db
      .selectFrom('audit')
      .select('row')
      .where('created_at', '<', 0)
      .orderBy('created_at')
      .limit(1);
    const oldest = connection.prepare(old.compile().sql);
    const deleteOldest = connection.prepare(db.deleteFrom('audit').where('row', 'in', old).compile().sql);
    return {
      append: (entry) =>
        transact(function* () {
          yield auditInsert(db, entry);
        }),
      list: (query) => listAudit(db, query),
      async purge(beforeMs) {
        if (oldest.all(beforeMs, 1).length === 0) return 0;
        return steps.run(function* () {
          for (let rows = PURGE_ROWS; rows === PURGE_ROWS; yield rows)
            rows = deleteOldest.run(beforeMs, PURGE_ROWS).changes;
        });
      },
    };
  },
};

async function makeTable(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('row', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('id', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('actor_id', 'text', (c) => c.notNull())
    .addColumn('actor_name', 'text', (c) => c.notNull())
    .addColumn('address', 'text')
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('request_id', 'text')
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .execute();
  await db.schema.createIndex('audit_by_time').on('audit').column('created_at').execute();
  await db.schema.createIndex('audit_by_target').on('audit').column('target').execute();
  await db.schema.createIndex('audit_by_actor').on('audit').column('actor_id').execute();
}
