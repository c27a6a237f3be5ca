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

/** Projects of which it is remembered what they keep. */
const MOST_KNOWN = 10_000;

/** Bytes of a project. */
interface Sums {
  readonly responses: number;
  readonly kept: number;
}

export class SqliteStateUsage implements StateUsage {
  readonly #maxBytesPerKey: () => number;
  readonly #caughtUp: () => Promise<void>;
  /** Bytes of things that stay, as the last write has found them. */
  readonly #kept = new Map<string, number>();
  /** Binds key id. */
  readonly #sums: SqlStatement;
  /** Binds key id, responses, kept; gives the new sums. */
  readonly #add: SqlStatement;
  /** Binds key id and 1. */
  readonly #oldest: SqlStatement;
  /** Binds places, key id, row. */
  readonly #deleteIds: SqlStatement;
  /** Binds row. */
  readonly #deleteResponse: SqlStatement;

  /** @param caughtUp resolves when all that this process has written to its journal is in the database */
  constructor(
    connection: SqlConnection,
    db: Kysely<Schema>,
    maxBytesPerKey: () => number,
    caughtUp: () => Promise<void>,
  ) {
    this.#maxBytesPerKey = maxBytesPerKey;
    this.#caughtUp = caughtUp;
    const sums = db.selectFrom('state_usage').select(['responses', 'kept']).where('key_id', '=', '');
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
    this.#sums = connection.prepare(sums.compile().sql);
    this.#add = connection.prepare(add.compile().sql);
    this.#oldest = connection.prepare(oldest.compile().sql);
    this.#deleteIds = connection.prepare(deleteIds.compile().sql);
    this.#deleteResponse = connection.prepare(deleteResponse.compile().sql);
  }

  async bytes(projectId: string): Promise<number> {
    await this.#caughtUp();
    const { responses, kept } = this.#sumsOf(projectId);
    return responses + kept;
  }

  /**
   * Whether responses of so many bytes would find room if all others gave way, by what is known of the project: what other
   * processes keep is learned with the next write. Needs no transaction.
   * @returns null; or the refusal
   */
  refusalOf(projectId: string, responses: number): GatewayError | null {
    const kept = this.#kept.get(projectId) ?? this.#learn(projectId, this.#sumsOf(projectId));
    const most = this.#maxBytesPerKey();
    return kept + responses > most ? quotaRefusal(responses, kept, most) : null;
  }

  /**
   * Counts new bytes of a response and of things that stay until they are deleted. Responses of the key are
   * deleted until there is room.
   * @returns null; or the refusal, and then nothing has changed
   */
  claim(projectId: string, responses: number, kept: number): GatewayError | null {
    const sums = this.#grow(projectId, responses, kept);
    const most = this.#maxBytesPerKey();
    if (sums.responses + sums.kept > most && sums.kept + responses > most) {
      this.release(projectId, responses, kept);
      return quotaRefusal(responses + kept, sums.kept - kept, most);
    }
    this.#makeRoom(projectId, sums);
    return null;
  }

  /** Counts responses that were there before, and had room when they came. Others of the project give way. */
  count(projectId: string, responses: number): void {
    this.#makeRoom(projectId, this.#grow(projectId, responses, 0));
  }

  /** `claim` for something kept that changes its size. @param growth bytes, negative when it shrinks */
  change(projectId: string, growth: number): GatewayError | null {
    if (growth > 0) return this.claim(projectId, 0, growth);
    if (growth < 0) this.release(projectId, 0, -growth);
    return null;
  }

  /** Counts bytes that are gone. */
  release(projectId: string, responses: number, kept: number): void {
    this.#grow(projectId, -responses, -kept);
  }

  #sumsOf(projectId: string): Sums {
    return (this.#sums.all(projectId)[0] as Sums | undefined) ?? { responses: 0, kept: 0 };
  }

  #grow(projectId: string, responses: number, kept: number): Sums {
    const sums = this.#add.all(projectId, responses, kept)[0] as unknown as Sums;
    this.#learn(projectId, sums);
    return sums;
  }

  #learn(projectId: string, { kept }: Sums): number {
    if (this.#kept.size >= MOST_KNOWN) this.#kept.clear();
    this.#kept.set(projectId, kept);
    return kept;
  }

  #makeRoom(projectId: string, { responses, kept }: Sums): void {
    const most = this.#maxBytesPerKey();
    for (let used = responses + kept; used > most;) {
      const oldest = this.#oldest.all(projectId, 1)[0] as ResponseHead | undefined;
      if (!oldest) return;
      this.removeResponse(oldest);
      used -= oldest.bytes;
    }
  }

  removeResponse({ row, key_id: projectId, bytes, places }: ResponseHead): void {
    this.#deleteIds.run(places, projectId, row);
    this.#deleteResponse.run(row);
    this.release(projectId, bytes, 0);
  }
}
