// The audit log of changes. Entries are appended and purged, but never changed.
import type { Kysely } from 'kysely';
import type { JsonObject } from '../../../base/json/index.ts';
import type { AuditEntry, AuditOf, AuditQuery, AuditStore } from '../../../accounts/ports/index.ts';
import { type Database, firstOf, type Queries, type Query, type Store } from '../database.ts';
import { newestFirst } from '../pages.ts';
import { purger } from '../purge.ts';
import { type RowIn, type SchemaOf, table } from '../table.ts';

export const AUDIT = table({
  name: 'audit',
  columns: {
    row: 'row',
    id: 'id',
    created_at: 'number',
    actor_id: 'id',
    actor_name: 'text',
    address: 'text?',
    action: 'text',
    target: 'text',
    request_id: 'text?',
    /** JSON objects. */
    before: 'text?',
    after: 'text?',
  },
  key: ['row'],
  unique: [['id']],
  indexes: {
    audit_by_time: ['created_at'],
    audit_by_target: ['target'],
    audit_by_actor: ['actor_id'],
  },
});

type AuditDb = Kysely<SchemaOf<[typeof AUDIT]>>;
type AuditRow = RowIn<typeof AUDIT>;

/** Query that adds an entry. */
export function auditInsert(db: AuditDb, entry: AuditEntry): Query {
  const { actor, before, after } = entry;
  return db.insertInto('audit').values({
    id: entry.id,
    created_at: entry.createdAt,
    actor_id: actor.id,
    actor_name: actor.name,
    address: actor.address,
    action: entry.action,
    target: entry.target,
    request_id: entry.requestId,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  });
}

/**
 * Changes one row and adds an audit entry.
 * @param before query for the current row
 * @param change query that changes the row and returns it; no row if the change must not happen
 * @returns the changed object; null if nothing was changed or logged
 */
export function* audited<Row, Thing>(
  db: AuditDb,
  before: Query<Row>,
  change: Query<Row>,
  decode: (row: Row) => Thing,
  auditOf: AuditOf<Thing>,
): Queries<Thing | null> {
  const found = yield* firstOf(before);
  const changed = yield* firstOf(change);
  if (!found || !changed) return null;
  const after = decode(changed);
  yield auditInsert(db, auditOf(decode(found), after));
  return after;
}

export const audit: Store<AuditStore> = {
  tables: [AUDIT],
  open(database) {
    const db = database.on(AUDIT);
    return {
      async append(entry) {
        await database.write(auditInsert(db, entry));
      },
      list: (query) => list(database, db, query),
      purge: purger(database, AUDIT, 'created_at'),
    };
  },
};

/** A page of entries, newest first. @throws GatewayError `invalid_request` for an unknown entry */
async function list(
  database: Database,
  db: AuditDb,
  { actor, action, target, from, to, ...place }: AuditQuery,
): ReturnType<AuditStore['list']> {
  let query = db.selectFrom('audit').selectAll();
  if (actor !== undefined) query = query.where('actor_id', '=', actor);
  if (action !== undefined) query = query.where('action', '=', action);
  if (target !== undefined) query = query.where('target', '=', target);
  if (from !== undefined) query = query.where('created_at', '>=', from);
  if (to !== undefined) query = query.where('created_at', '<', to);
  const { rows, hasMore } = await newestFirst(database, ['audit', 'entry'], query, place);
  return { entries: rows.map(decode), hasMore };
}

function decode(row: AuditRow): AuditEntry {
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
