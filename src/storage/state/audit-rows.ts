// Entries of the audit log as rows of either database: added, never changed.
import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import type { AuditEntry, AuditOf, AuditPage, AuditQuery } from '../ports.ts';
import type { AuditTable, StateSchema } from './tables.ts';
import type { Queries } from './transact.ts';

/** What adds an entry. */
export function auditInsert(db: Kysely<StateSchema>, entry: AuditEntry): CompiledQuery {
  const { actor, before, after } = entry;
  return db
    .insertInto('audit')
    .values({
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
    })
    .compile();
}

/**
 * Changes one row, and says so in the log.
 * @param before finds it as it is
 * @param change gives it as it is then; nothing where it is not to be changed
 * @returns it as it is then; null where nothing was changed, and nothing is in the log
 */
export function* audited<Row extends object, Thing>(
  db: Kysely<StateSchema>,
  before: Compilable<Row>,
  change: Compilable<Row>,
  decode: (row: Row) => Thing,
  auditOf: AuditOf<Thing>,
): Queries<Thing | null> {
  const [found] = (yield before.compile()) as readonly Row[];
  const [changed] = (yield change.compile()) as readonly Row[];
  if (!found || !changed) return null;
  const after = decode(changed);
  yield auditInsert(db, auditOf(decode(found), after));
  return after;
}

/** A page of them, newest first. @throws GatewayError `invalid_request` for an unknown entry */
export async function listAudit(
  db: Kysely<StateSchema>,
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

async function rowOf(db: Kysely<StateSchema>, id: string, param: string): Promise<number> {
  const found = await db.selectFrom('audit').select('row').where('id', '=', id).executeTakeFirst();
  if (found) return found.row;
  throw new GatewayError('invalid_request', `${param}: there is no such entry`, { param });
}

function decode(row: Omit<AuditTable, 'row'>): AuditEntry {
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
