// The audit log in SQLite: who changed what, when, and from where. Entries are added and purged, never changed.
import type { Kysely } from 'kysely';
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import type { AuditEntry, AuditPage, AuditQuery, AuditStore } from '../ports.ts';
import type { SqliteStore } from './store.ts';

/** Rows deleted with one statement. */
const PURGE_ROWS = 5;

/** Only this store knows the table. */
interface AuditTable {
  /** In the order of the changes. */
  row: number;
  id: string;
  created_at: number;
  actor_id: string;
  actor_name: string;
  address: string | null;
  action: string;
  target: string;
  request_id: string | null;
  /** JSON objects. */
  before: string | null;
  after: string | null;
}
interface Tables {
  audit: AuditTable;
}

export const auditStore: SqliteStore<AuditStore> = {
  migrations: [
    { name: 'audit log', up: (db) => makeTable(db as unknown as Kysely<Tables>), isAdditive: true },
  ],
  open: ({ db, commits, steps, connection }) => {
    const tables = db as unknown as Kysely<Tables>;
    const row: Omit<AuditTable, 'row'> = {
      id: '',
      created_at: 0,
      actor_id: '',
      actor_name: '',
      address: null,
      action: '',
      target: '',
      request_id: null,
      before: null,
      after: null,
    };
    const insert = connection.prepare(
      tables
        .insertInto('audit')
        .values(row as AuditTable)
        .compile().sql,
    );
    const old = tables
      .selectFrom('audit')
      .select('row')
      .where('created_at', '<', 0)
      .orderBy('created_at')
      .limit(1);
    const oldest = connection.prepare(old.compile().sql);
    const deleteOldest = connection.prepare(tables.deleteFrom('audit').where('row', 'in', old).compile().sql);
    return {
      append: ({ actor, before, after, ...entry }) =>
        commits.add(
          () =>
            void insert.run(
              entry.id,
              entry.createdAt,
              actor.id,
              actor.name,
              actor.address,
              entry.action,
              entry.target,
              entry.requestId,
              before && JSON.stringify(before),
              after && JSON.stringify(after),
            ),
        ),
      list: (query) => list(tables, query),
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

async function makeTable(db: Kysely<Tables>): Promise<void> {
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

async function list(
  db: Kysely<Tables>,
  { limit, after, before, actor, action, target, from, to }: AuditQuery,
): Promise<AuditPage> {
  let query = db.selectFrom('audit').selectAll();
  if (actor !== undefined) query = query.where('actor_id', '=', actor);
  if (action !== undefined) query = query.where('action', '=', action);
  if (target !== undefined) query = query.where('target', '=', target);
  if (from !== undefined) query = query.where('created_at', '>=', from);
  if (to !== undefined) query = query.where('created_at', '<', to);
  // Newest first: what comes after an entry is older.
  if (after !== undefined) query = query.where('row', '<', await rowOf(db, after, 'after'));
  if (before !== undefined) query = query.where('row', '>', await rowOf(db, before, 'before'));
  const backwards = before !== undefined;
  const rows = await query
    .orderBy('row', backwards ? 'asc' : 'desc')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit).map(decode);
  return { entries: backwards ? page.toReversed() : page, hasMore: rows.length > limit };
}

async function rowOf(db: Kysely<Tables>, id: string, param: string): Promise<number> {
  const found = await db.selectFrom('audit').select('row').where('id', '=', id).executeTakeFirst();
  if (found) return found.row;
  throw new GatewayError('invalid_request', `${param}: there is no such entry`, { param });
}

function decode(row: AuditTable): AuditEntry {
  return {
    id: row.id,
    createdAt: row.created_at,
    actor: { id: row.actor_id, name: row.actor_name, address: row.address },
    action: row.action,
    target: row.target,
    requestId: row.request_id,
    before: row.before === null ? null : (JSON.parse(row.before) as JsonObject),
    after: row.after === null ? null : (JSON.parse(row.after) as JsonObject),
  };
}
