// Sealed turns in PostgreSQL: bytes by key and call. Cannot read what it keeps.
import { type Kysely, sql } from 'kysely';
import type { SealedTurn, VaultStore } from '../ports.ts';
import type { PostgresSchema } from './store.ts';

/** Rows deleted, and written, with one statement. */
const PURGE_ROWS = 500;
const PUT_ROWS = 500;

export class PostgresVault implements VaultStore {
  readonly #db: Kysely<PostgresSchema>;

  constructor(db: Kysely<PostgresSchema>) {
    this.#db = db;
  }

  async put(turns: readonly SealedTurn[]): Promise<void> {
    // The last of each, since a statement may write a row once; in one order, so that two processes never wait for each other.
    const last = new Map(turns.map((turn) => [JSON.stringify([turn.projectId, turn.callId]), turn]));
    const rows = [...last].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, turn]) => turn);
    for (let from = 0; from < rows.length; from += PUT_ROWS)
      await this.#db
        .insertInto('vault')
        .values(
          rows.slice(from, from + PUT_ROWS).map(({ projectId, callId, sealed, expiresAt }) => ({
            key_id: projectId,
            call_id: callId,
            sealed,
            expires_at: expiresAt,
          })),
        )
        .onConflict((conflict) =>
          conflict.columns(['key_id', 'call_id']).doUpdateSet((eb) => ({
            sealed: eb.ref('excluded.sealed'),
            expires_at: eb.ref('excluded.expires_at'),
          })),
        )
        .execute();
  }

  async get(
    projectId: string,
    callIds: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    if (callIds.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom('vault')
      .select(['call_id', 'sealed'])
      .where('key_id', '=', projectId)
      .where('call_id', '=', sql<string>`any(${callIds}::text[])`)
      .where('expires_at', '>', nowMs)
      .execute();
    // The driver's buffers are views of what it read from the socket: copied, so that nothing else is kept alive.
    return new Map(rows.map((row) => [row.call_id, new Uint8Array(row.sealed)]));
  }

  async purge(nowMs: number): Promise<number> {
    const expired = this.#db
      .selectFrom('vault')
      .select(['key_id', 'call_id'])
      .where('expires_at', '<=', nowMs)
      .orderBy('expires_at')
      .limit(PURGE_ROWS)
      .forUpdate()
      .skipLocked();
    const { numDeletedRows } = await this.#db
      .deleteFrom('vault')
      .where((eb) => eb(eb.refTuple('key_id', 'call_id'), 'in', expired.$asTuple('key_id', 'call_id')))
      .executeTakeFirst();
    return Number(numDeletedRows);
  }
}
