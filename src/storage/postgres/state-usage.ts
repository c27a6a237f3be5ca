// What each project's stored things occupy, and the quota over all of them, in PostgreSQL. The counters change in the
// transactions of the stores: a project's row is held from then until the commit, so nobody counts past another. It comes
// after the row of the thing itself: all take these two in the same order.
import { type Kysely, sql } from 'kysely';
import type { StateUsage } from '../ports.ts';
import { quotaRefusal } from '../state/sizes.ts';
import type { PostgresSchema, Tx } from './store.ts';

/** Responses that are looked at together where some have to give way. */
const GIVE_WAY = 50;

export class PostgresStateUsage implements StateUsage {
  readonly #db: Kysely<PostgresSchema>;
  readonly #maxBytesPerKey: () => number;

  /** @param maxBytesPerKey the most that one project may store; asked at every write */
  constructor(db: Kysely<PostgresSchema>, maxBytesPerKey: () => number) {
    this.#db = db;
    this.#maxBytesPerKey = maxBytesPerKey;
  }

  /** The most that one project may store, in whole bytes, as it is now. */
  get mostBytes(): number {
    return Math.floor(Math.min(this.#maxBytesPerKey(), Number.MAX_SAFE_INTEGER));
  }

  async bytes(projectId: string): Promise<number> {
    const row = await this.#db
      .selectFrom('state_usage')
      .select(['responses', 'kept'])
      .where('key_id', '=', projectId)
      .executeTakeFirst();
    return row ? row.responses + row.kept : 0;
  }

  /**
   * Counts new bytes of a response and of things that stay until they are deleted. Responses of the project are deleted
   * until there is room.
   * @param own number of the response that is counted, which does not give way to itself
   * @throws GatewayError `quota` where there is none even without any other response
   */
  async claim(tx: Tx, projectId: string, responses: number, kept: number, own = 0): Promise<void> {
    const sums = await this.#add(tx, projectId, responses, kept);
    const most = this.#maxBytesPerKey();
    if (sums.responses + sums.kept <= most) return;
    if (sums.kept + responses > most) throw quotaRefusal(responses + kept, sums.kept - kept, most);
    await this.#makeRoom(tx, projectId, sums.responses + sums.kept - most, own);
  }

  /** `claim` for something kept that changes its size. @param growth bytes, negative when it shrinks */
  async change(tx: Tx, projectId: string, growth: number): Promise<void> {
    if (growth > 0) await this.claim(tx, projectId, 0, growth);
    if (growth < 0) await this.release(tx, projectId, 0, -growth);
  }

  /** Counts bytes that are gone. */
  async release(tx: Tx, projectId: string, responses: number, kept: number): Promise<void> {
    await this.#add(tx, projectId, -responses, -kept);
  }

  /** Deletes these responses and where they are listed, which the caller holds. Their bytes are counted by somebody else. */
  async removeResponses(tx: Tx, rows: readonly number[]): Promise<void> {
    const all = sql<number>`any(${rows}::bigint[])`;
    await sql`
      delete from response_ids as i using responses as r, jsonb_array_elements_text(r.places::jsonb) as p(place)
      where r.row = ${all} and i.place = p.place and i.key_id = r.key_id and i.response_row = r.row`.execute(
      tx,
    );
    await tx.deleteFrom('responses').where('row', '=', all).execute();
  }

  /** Those that expire first go first. One that somebody else deletes just now is passed over: it will be counted there. */
  async #makeRoom(tx: Tx, projectId: string, needed: number, own: number): Promise<void> {
    for (let left = needed; left > 0;) {
      const oldest = await tx
        .selectFrom('responses')
        .select(['row', 'bytes'])
        .where('key_id', '=', projectId)
        .where('row', '<>', own)
        .orderBy('expires_at')
        .orderBy('row')
        .limit(GIVE_WAY)
        .forUpdate()
        .skipLocked()
        .execute();
      const going: number[] = [];
      let freed = 0;
      for (const { row, bytes } of oldest) {
        if (freed >= left) break;
        going.push(row);
        freed += bytes;
      }
      if (going.length === 0) return;
      await this.removeResponses(tx, going);
      await this.release(tx, projectId, freed, 0);
      left -= freed;
    }
  }

  async #add(
    tx: Tx,
    projectId: string,
    responses: number,
    kept: number,
  ): Promise<{ readonly responses: number; readonly kept: number }> {
    return tx
      .insertInto('state_usage')
      .values({ key_id: projectId, responses, kept })
      .onConflict((conflict) =>
        conflict.column('key_id').doUpdateSet((eb) => ({
          responses: eb('state_usage.responses', '+', eb.ref('excluded.responses')),
          kept: eb('state_usage.kept', '+', eb.ref('excluded.kept')),
        })),
      )
      .returning(['responses', 'kept'])
      .executeTakeFirstOrThrow();
  }
}
