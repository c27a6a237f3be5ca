// What each project's stored responses, conversations, prompts and files occupy, and the quota over all of them. The counters
// change in the transactions of the stores. The only place that deletes responses, because they give way when
// a key is full, first those that expire first: the oldest. Its methods, but for `bytes`, run inside a transaction.
import { type Kysely, sql } from 'kysely';
import type { GatewayError } from '../../canonical/index.ts';
import type { SqlConnection, SqlStatement } from '../../runtime/sqlite.ts';
import type { StateUsage } from '../ports.ts';
import { quotaRefusal } from '../state/sizes.ts';
import { RESPONSE_HEAD, type ResponseHead } from '../state/response-rows.ts';
import type { Schema } from './schema.ts';

export class SqliteStateUsage implements StateUsage {
  readonly #maxBytesPerKey: () => number;
  /** Binds key id. */
  readonly #bytes: SqlStatement;
  /** Binds key id, responses, kept; gives the new sums. */
  readonly #add: SqlStatement;
  /** Binds key id and 1. */
  readonly #oldest: SqlStatement;
  /** Binds places, key id, row. */
  readonly #deleteIds: SqlStatement;
  /** Binds row. */
  readonly #deleteResponse: SqlStatement;

  constructor(connection: SqlConnection, db: Kysely<Schema>, maxBytesPerKey: () => number) {
    this.#maxBytesPerKey = maxBytesPerKey;
    const bytes = db
      .selectFrom('state_usage')
      .select((eb) => eb('responses', '+', eb.ref('kept')).as('bytes'))
      .where('key_id', '=', '');
    const add = db
      .insertInto('state_usage')
      .values({ key_id: '', responses: 0, kept: 0 })
      .onConflict((conflict) =>
        conflict.column('key_id').doUpdateSet((eb) => ({
          responses: eb('state_usage.responses', '+', eb.ref('excluded.responses')),
          kept: eb('state_usage.kept', '+', eb.ref('excluded.kept')),
        })),
      )
      .returning(['responses', 'kept']);
    const oldest = db
      .selectFrom('responses')
      .select(RESPONSE_HEAD)
      .where('key_id', '=', '')
      .orderBy('expires_at')
      .orderBy('row')
      .limit(1);
    const deleteIds = db
      .deleteFrom('response_ids')
      .where('place', 'in', sql<string>`(select value from json_each(${''}))`)
      .where('key_id', '=', '')
      .where('response_row', '=', 0);
    const deleteResponse = db.deleteFrom('responses').where('row', '=', 0);
    this.#bytes = connection.prepare(bytes.compile().sql);
    this.#add = connection.prepare(add.compile().sql);
    this.#oldest = connection.prepare(oldest.compile().sql);
    this.#deleteIds = connection.prepare(deleteIds.compile().sql);
    this.#deleteResponse = connection.prepare(deleteResponse.compile().sql);
  }

  async bytes(projectId: string): Promise<number> {
    return Number(this.#bytes.all(projectId)[0]?.['bytes'] ?? 0);
  }

  /**
   * Counts new bytes of a response and of things that stay until they are deleted. Responses of the key are
   * deleted until there is room.
   * @returns null; or the refusal, and then nothing has changed
   */
  claim(projectId: string, responses: number, kept: number): GatewayError | null {
    const sums = this.#add.all(projectId, responses, kept)[0];
    const keptNow = Number(sums?.['kept']);
    let used = Number(sums?.['responses']) + keptNow;
    const most = this.#maxBytesPerKey();
    if (used <= most) return null;
    if (keptNow + responses > most) {
      this.release(projectId, responses, kept);
      return quotaRefusal(responses + kept, keptNow - kept, most);
    }
    while (used > most) {
      const oldest = this.#oldest.all(projectId, 1)[0] as ResponseHead | undefined;
      if (!oldest) break;
      this.removeResponse(oldest);
      used -= oldest.bytes;
    }
    return null;
  }

  /** `claim` for something kept that changes its size. @param growth bytes, negative when it shrinks */
  change(projectId: string, growth: number): GatewayError | null {
    if (growth > 0) return this.claim(projectId, 0, growth);
    if (growth < 0) this.release(projectId, 0, -growth);
    return null;
  }

  /** Counts bytes that are gone. */
  release(projectId: string, responses: number, kept: number): void {
    this.#add.all(projectId, -responses, -kept);
  }

  removeResponse({ row, key_id: projectId, bytes, places }: ResponseHead): void {
    this.#deleteIds.run(places, projectId, row);
    this.#deleteResponse.run(row);
    this.release(projectId, bytes, 0);
  }
}
