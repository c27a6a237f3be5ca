// API keys in SQLite. Knows hashes only, never a key itself.
import type { Kysely, Selectable } from 'kysely';
import type { KeyRole, RoutingDefaults } from '../canonical/index.ts';
import type { LimitEntry } from '../limits/index.ts';
import type { SqlConnection, SqlStatement } from '../runtime/sqlite.ts';
import type { KeyStore, StoredKey } from './ports.ts';
import type { KeyTable, Schema } from './schema.ts';

/** Shared by the keys that have no others: a hundred thousand of them are in memory. */
const USUAL_ROLES: readonly KeyRole[] = ['models'];
const NO_ENTRIES: readonly LimitEntry[] = [];

export class SqliteKeys implements KeyStore {
  readonly #db: Kysely<Schema>;
  readonly #dataVersion: SqlStatement;
  #writes = 0;

  constructor(connection: SqlConnection, db: Kysely<Schema>) {
    this.#db = db;
    // Changes when another connection has committed, and costs a few microseconds
    // (sqlite.org/pragma.html#pragma_data_version). Our own writes are counted beside it.
    this.#dataVersion = connection.prepare('pragma data_version');
  }

  async insert(key: StoredKey): Promise<void> {
    this.#writes += 1;
    await this.#db.insertInto('keys').values(encodeKey(key)).execute();
  }

  async list(): Promise<readonly StoredKey[]> {
    const rows = await this.#db.selectFrom('keys').selectAll().orderBy('created_at').orderBy('id').execute();
    return rows.map(decodeKey);
  }

  async revoke(id: string, atMs: number): Promise<boolean> {
    this.#writes += 1;
    await this.#db
      .updateTable('keys')
      .set({ revoked_at: atMs })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .execute();
    const row = await this.#db.selectFrom('keys').select('id').where('id', '=', id).executeTakeFirst();
    return row !== undefined;
  }

  async version(): Promise<string> {
    return `${String(this.#dataVersion.all()[0]?.['data_version'])}.${this.#writes}`;
  }
}

function encodeKey(key: StoredKey): Selectable<KeyTable> {
  return {
    id: key.id,
    name: key.name,
    hash: key.hash,
    hint: key.hint,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    models: key.models && JSON.stringify(key.models),
    log_content: key.logContent ? 1 : 0,
    routing: key.routing && JSON.stringify(key.routing),
    strict: key.strict === null ? null : Number(key.strict),
    project_id: key.projectId,
    roles: isUsual(key.roles) ? null : JSON.stringify(key.roles),
    limits: encodeEntries(key.limits),
    budgets: encodeEntries(key.budgets),
    previous_hash: key.previous?.hash ?? null,
    previous_until: key.previous?.until ?? null,
    updated_at: key.updatedAt,
    version: key.version,
  };
}

function isUsual(roles: readonly KeyRole[]): boolean {
  return roles.length === 1 && roles[0] === 'models';
}

function decodeKey(row: Selectable<KeyTable>): StoredKey {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    models: row.models === null ? null : (JSON.parse(row.models) as string[]),
    logContent: row.log_content !== 0,
    routing: row.routing === null ? null : (JSON.parse(row.routing) as RoutingDefaults),
    strict: row.strict === null ? null : row.strict !== 0,
    projectId: row.project_id,
    roles: row.roles === null ? USUAL_ROLES : (JSON.parse(row.roles) as KeyRole[]),
    limits: decodeEntries(row.limits),
    budgets: decodeEntries(row.budgets),
    previous: row.previous_hash === null ? null : { hash: row.previous_hash, until: row.previous_until ?? 0 },
    updatedAt: row.updated_at ?? row.created_at,
    version: row.version,
  };
}

function encodeEntries(entries: readonly LimitEntry[]): string | null {
  return entries.length === 0 ? null : JSON.stringify(entries);
}

function decodeEntries(text: string | null): readonly LimitEntry[] {
  return text === null ? NO_ENTRIES : (JSON.parse(text) as LimitEntry[]);
}
