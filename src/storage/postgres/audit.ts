// The audit log in PostgreSQL: who changed what, when, and from where. Entries are added and purged, never changed.
import type { Kysely } from 'kysely';
import type { AuditStore } from '../ports.ts';
import { auditInsert, listAudit } from '../state/audit-rows.ts';
import { ID } from './columns.ts';
import type { PostgresSchema, PostgresStore } from './store.ts';

/** Rows deleted with one statement. */
const PURGE_ROWS = 500;

export const postgresAudit: PostgresStore<AuditStore> = {
  migrations: [{ name: 'audit log', up: makeTable, isAdditive: true }],
  open: ({ db }) => ({
    async append(entry) {
      await db.executeQuery(auditInsert(db, entry));
    },
    list: (query) => listAudit(db, query),
    async purge(beforeMs) {
      const old = db
        .selectFrom('audit')
        .select('row')
        .where('created_at', '<', beforeMs)
        .orderBy('created_at')
        .limit(PURGE_ROWS)
        .forUpdate()
        .skipLocked();
      const { numDeletedRows } = await db.deleteFrom('audit').where('row', 'in', old).executeTakeFirst();
      return Number(numDeletedRows);
    },
  }),
};

async function makeTable(db: Kysely<PostgresSchema>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('row', 'bigint', (c) => c.generatedAlwaysAsIdentity().primaryKey())
    .addColumn('id', ID, (c) => c.notNull().unique())
    .addColumn('created_at', 'bigint', (c) => c.notNull())
    .addColumn('actor_id', ID, (c) => c.notNull())
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
