// API keys in SQLite. Knows hashes only, never a key itself.
import type { Kysely } from 'kysely';
import type { RoutingDefaults } from '../canonical/index.ts';
import type { SqlConnection, SqlStatement } from '../runtime/sqlite.ts';
import type { KeyStore, StoredKey } from './ports.ts';
import type { KeyTable, Schema } from './schema.ts';

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
    await this.#db
      .insertInto('keys')
      .values({
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
      })
      .execute();
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

function decodeKey(row: KeyTable): StoredKey {
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
  };
}
