// Sealed turns in SQLite: bytes by key and call. Cannot read what it keeps.
import { type Kysely, sql } from 'kysely';
import type { SealedTurn, VaultStore } from './ports.ts';
import type { Schema } from './schema.ts';

/** Rows deleted in one go: below a millisecond, so that a purge never holds up a stream. */
const PURGE_ROWS = 200;
/** Bound values of one statement; SQLite takes 32,766. */
const PUT_ROWS = 500;

export class SqliteVault implements VaultStore {
  readonly #db: Kysely<Schema>;

  constructor(db: Kysely<Schema>) {
    this.#db = db;
  }

  async put(turns: readonly SealedTurn[]): Promise<void> {
    for (let from = 0; from < turns.length; from += PUT_ROWS) {
      const rows = turns.slice(from, from + PUT_ROWS).map((turn) => ({
        key_id: turn.keyId,
        call_id: turn.callId,
        sealed: turn.sealed,
        expires_at: turn.expiresAt,
      }));
      await this.#db
        .insertInto('vault')
        .values(rows)
        .onConflict((conflict) =>
          conflict.columns(['key_id', 'call_id']).doUpdateSet((eb) => ({
            sealed: eb.ref('excluded.sealed'),
            expires_at: eb.ref('excluded.expires_at'),
          })),
        )
        .execute();
    }
  }

  async get(
    keyId: string,
    callIds: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    if (callIds.length === 0) return new Map();
    // One bound value instead of one per id: the same statement for every length.
    const rows = await this.#db
      .selectFrom('vault')
      .select(['call_id', 'sealed'])
      .where('key_id', '=', keyId)
      .where('call_id', 'in', sql<string>`(select value from json_each(${JSON.stringify(callIds)}))`)
      .where('expires_at', '>', nowMs)
      .execute();
    return new Map(rows.map((row) => [row.call_id, row.sealed]));
  }

  async purge(nowMs: number): Promise<number> {
    const result = await this.#db
      .deleteFrom('vault')
      .where(
        sql<number>`rowid`,
        'in',
        this.#db
          .selectFrom('vault')
          .select(sql<number>`rowid`.as('rowid'))
          .where('expires_at', '<=', nowMs)
          .orderBy('expires_at')
          .limit(PURGE_ROWS),
      )
      .executeTakeFirst();
    return Number(result.numDeletedRows);
  }
}
