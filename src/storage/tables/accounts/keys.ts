// API keys with their permissions and limits. Stores only hashes of their secrets.
import type { Updateable } from 'kysely';
import type { KeyRole, RoutingDefaults } from '../../../canonical/index.ts';
import type { KeyChange, KeyStore, StoredKey } from '../../../accounts/ports/index.ts';
import { AUDIT, auditInsert } from './audit.ts';
import { CHANGE_NUMBERS, numbering } from './change-numbers.ts';
import { type Database, rowsOf, type Store } from '../database.ts';
import { SharedJson } from './shared-json.ts';
import { type RowIn, table } from '../table.ts';
import { contains, decodeEntries, encodeEntries, present, tenantTable } from './tenants.ts';

const KEYS = table({
  name: 'keys',
  columns: {
    id: 'id',
    name: 'text',
    hash: 'id',
    hint: 'text',
    created_at: 'number',
    expires_at: 'number?',
    revoked_at: 'number?',
    /** JSON array of patterns. Null: all models. */
    models: 'text?',
    /** 0 or 1. Null: default of the configuration. */
    log_content: 'small?',
    /** JSON object as in the configuration. Null: none. */
    routing: 'text?',
    /** 0 or 1. Null: default. */
    strict: 'small?',
    /** As `streams.on_disconnect`. Null: default of the configuration. */
    on_disconnect: 'text?',
    /** Null: the key is its own project. */
    project_id: 'id?',
    /** JSON array. Null: only `models`. */
    roles: 'text?',
    /** JSON arrays as in the configuration. Null: none. */
    limits: 'text?',
    budgets: 'text?',
    previous_hash: 'id?',
    previous_until: 'number?',
    updated_at: 'number',
    version: 'small',
    changed: 'number',
  },
  key: ['id'],
  unique: [['hash']],
  indexes: {
    keys_in_order: ['created_at', 'id'],
    keys_by_change: ['changed'],
    keys_by_name: ['name'],
    keys_by_project: ['project_id', 'created_at', 'id'],
  },
  defaults: { changed: 0 },
  renumbered: ['changed'],
  extras: numbering('keys'),
  added: { on_disconnect: 5 },
});

type KeyRow = RowIn<typeof KEYS>;

/** Keys per step when all are read. Other work runs in between. */
const PORTION = 2_000;
/** Default roles. */
const USUAL_ROLES: readonly KeyRole[] = ['models'];

export const keys: Store<KeyStore> = { tables: [CHANGE_NUMBERS, KEYS], open: openKeys };

function openKeys(database: Database): KeyStore {
  const { on, read, exclusively } = database;
  const db = on(KEYS, AUDIT);
  const json = new SharedJson();
  const decode = (row: KeyRow): StoredKey => decodeKey(row, json);
  const { page, update, ...reading } = tenantTable(database, { name: 'keys', what: 'key', decode });
  const all = db.selectFrom('keys').selectAll();
  const ofName = (name: string) => all.where('name', '=', name).orderBy('created_at').orderBy('id');
  return {
    ...reading,
    insert(key, audit, mayBe) {
      const { id, projectId, createdAt, updatedAt, version, ...rest } = key;
      const query = db.insertInto('keys').values({
        ...encodeKeyChange(rest),
        id,
        name: key.name,
        hash: key.hash,
        hint: key.hint,
        project_id: projectId,
        created_at: createdAt,
        updated_at: updatedAt,
        version,
      });
      return exclusively(function* () {
        if (mayBe && !mayBe((yield* rowsOf(ofName(key.name))).map(decode))) return false;
        yield query;
        yield auditInsert(db, audit);
        return true;
      });
    },
    async named(name) {
      return (await read(ofName(name))).map(decode);
    },
    async list({ projectId, isRevoked, name, search, ids, ...place }) {
      let query = all;
      if (projectId !== undefined) query = query.where('project_id', '=', projectId);
      if (isRevoked !== undefined) query = query.where('revoked_at', isRevoked ? 'is not' : 'is', null);
      if (name !== undefined) query = query.where('name', '=', name);
      if (search !== undefined)
        query = query.where((eb) => eb.or([contains('name', search), contains('id', search)]));
      if (ids !== undefined) query = query.where('id', 'in', ids);
      const { things, hasMore } = await page(query, place);
      return { keys: things, hasMore };
    },
    update: (id, change, of, auditOf) => update(id, encodeKeyChange(change), of, auditOf),
    async *all() {
      for (let after = ''; ;) {
        const some = all.where('id', '>', after).orderBy('id').limit(PORTION);
        const rows = await read(some);
        const last = rows.at(-1);
        if (!last) return;
        yield rows.map(decode);
        after = last.id;
      }
    },
  };
}

/** Columns of a change, without those that it does not name. */
function encodeKeyChange(change: KeyChange): Updateable<KeyRow> {
  const { name, hash, hint, expiresAt, revokedAt, models, logContent, strict, routing } = change;
  const { onDisconnect, roles, limits, budgets, previous } = change;
  return present({
    name,
    hash,
    hint,
    expires_at: expiresAt,
    revoked_at: revokedAt,
    models: models && JSON.stringify(models),
    log_content: flag(logContent),
    strict: flag(strict),
    on_disconnect: onDisconnect,
    routing: routing && JSON.stringify(routing),
    roles: roles && (isUsual(roles) ? null : JSON.stringify(roles)),
    limits: limits && encodeEntries(limits),
    budgets: budgets && encodeEntries(budgets),
    previous_hash: previous === null ? null : previous?.hash,
    previous_until: previous === null ? null : previous?.until,
  });
}

function decodeKey(row: KeyRow, json: SharedJson): StoredKey {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    models: row.models === null ? null : (json.parse(row.models) as string[]),
    logContent: row.log_content === null ? null : row.log_content !== 0,
    routing: row.routing === null ? null : (json.parse(row.routing) as RoutingDefaults),
    strict: row.strict === null ? null : row.strict !== 0,
    onDisconnect: row.on_disconnect,
    projectId: row.project_id,
    roles: row.roles === null ? USUAL_ROLES : (json.parse(row.roles) as KeyRole[]),
    limits: decodeEntries(row.limits, json),
    budgets: decodeEntries(row.budgets, json),
    previous: row.previous_hash === null ? null : { hash: row.previous_hash, until: row.previous_until ?? 0 },
    updatedAt: row.updated_at,
    version: row.version,
  };
}

function isUsual(roles: readonly KeyRole[]): boolean {
  return roles.length === 1 && roles[0] === 'models';
}

function flag(value: boolean | null | undefined): number | null | undefined {
  return typeof value === 'boolean' ? Number(value) : value;
}
