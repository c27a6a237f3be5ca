// Sealed turns in SQLite: bytes by key and call. Cannot read what it keeps. Statements are built by Kysely once:
// conversations with tools ask on every request, and building a query costs ten times its execution.
import { sql } from 'kysely';
import type { SqlConnection, SqlStatement } from '../../runtime/sqlite.ts';
import type { SealedTurn, VaultStore } from '../ports.ts';
import type { ShortSteps } from './short-steps.ts';
import type { SqliteBase } from './store.ts';

/** Expired rows that are looked for together. */
const PURGE_ROWS = 50;

export class SqliteVault implements VaultStore {
  readonly #connection: SqlConnection;
  readonly #steps: ShortSteps;
  /** Binds key id, call id, bytes, expiry. */
  readonly #put: SqlStatement;
  /** Binds key id, a JSON array of call ids, now. */
  readonly #get: SqlStatement;
  /** Binds now and the number of rows. */
  readonly #expired: SqlStatement;
  /** Binds a row number. */
  readonly #delete: SqlStatement;

  constructor({ connection, db, steps }: SqliteBase) {
    this.#connection = connection;
    this.#steps = steps;
    const put = db
      .insertInto('vault')
      .values({ key_id: '', call_id: '', sealed: new Uint8Array(), expires_at: 0 })
      .onConflict((conflict) =>
        conflict.columns(['key_id', 'call_id']).doUpdateSet((eb) => ({
          sealed: eb.ref('excluded.sealed'),
          expires_at: eb.ref('excluded.expires_at'),
        })),
      );
    // One bound value instead of one per id: the same statement for every length.
    const get = db
      .selectFrom('vault')
      .select(['call_id', 'sealed'])
      .where('key_id', '=', '')
      .where('call_id', 'in', sql<string>`(select value from json_each(${''}))`)
      .where('expires_at', '>', 0);
    const expired = db
      .selectFrom('vault')
      .select(sql<number>`rowid`.as('rowid'))
      .where('expires_at', '<=', 0)
      .orderBy('expires_at')
      .limit(1);
    const deletion = db.deleteFrom('vault').where(sql<number>`rowid`, '=', 0);
    this.#put = connection.prepare(put.compile().sql);
    this.#get = connection.prepare(get.compile().sql);
    this.#expired = connection.prepare(expired.compile().sql);
    this.#delete = connection.prepare(deletion.compile().sql);
  }

  async put(turns: readonly SealedTurn[]): Promise<void> {
    this.#connection.exec('begin immediate');
    try {
      for (const turn of turns) this.#put.run(turn.projectId, turn.callId, turn.sealed, turn.expiresAt);
      this.#connection.exec('commit');
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.exec('rollback');
      throw error;
    }
  }

  async get(
    projectId: string,
    callIds: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    if (callIds.length === 0) return found;
    for (const row of this.#get.all(projectId, JSON.stringify(callIds), nowMs)) {
      const { call_id: callId, sealed } = row;
      if (typeof callId === 'string' && sealed instanceof Uint8Array) found.set(callId, sealed);
    }
    return found;
  }

  async purge(nowMs: number): Promise<number> {
    // Asked first: mostly there is nothing to do, and a transaction would wait for other processes.
    if (this.#expired.all(nowMs, 1).length === 0) return 0;
    return this.#steps.run(() => this.#purge(nowMs));
  }

  *#purge(nowMs: number): Generator<number> {
    for (const { rowid } of this.#expired.all(nowMs, PURGE_ROWS))
      yield this.#delete.run(rowid as number).changes;
  }
}
