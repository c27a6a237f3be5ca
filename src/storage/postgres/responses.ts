// Stored responses in PostgreSQL, and in the conversations that they belong to.
import { type Kysely, sql } from 'kysely';
import type { JsonObject } from '../../canonical/index.ts';
import { othersRun } from '../others-run.ts';
import type { ResponseStore, StoredResponse } from '../ports.ts';
import { encodeItems } from '../state/item-rows.ts';
import {
  decodeResponse,
  decodeTexts,
  itemOf,
  itemsOf,
  placeOf,
  type FoundRow,
  responseRow,
} from '../state/response-rows.ts';
import type { ConversationItems } from './conversation-items.ts';
import { forgetDeleted, noteDeleted } from './deletions.ts';
import type { LateTurns } from './late-turns.ts';
import type { PostgresStateUsage } from './state-usage.ts';
import type { PostgresBase, PostgresSchema } from './store.ts';

/** Responses deleted in one transaction. */
const PURGE_ROWS = 100;

/** Responses looked into for an item: nearly always the first has it, but a text may only mention the id. */
const MENTIONS = 8;

const COLUMNS = [
  'id',
  'key_id',
  'created_at',
  'expires_at',
  'previous_id',
  'conversation_id',
  'response',
  'input',
] as const;

export class PostgresResponses implements ResponseStore {
  readonly #db: Kysely<PostgresSchema>;
  readonly #transaction: PostgresBase['transaction'];
  readonly #usage: PostgresStateUsage;
  readonly #conversations: ConversationItems;
  readonly #turns: LateTurns;

  constructor({ db, transaction, usage, items, turns }: PostgresBase) {
    this.#db = db;
    this.#turns = turns;
    this.#transaction = transaction;
    this.#usage = usage;
    this.#conversations = items;
  }

  async put(stored: StoredResponse, appendTo?: string): Promise<string> {
    const making = responseRow(stored);
    const isLarge = making instanceof Promise;
    const response = isLarge ? await making : making;
    await this.#turns.keep({
      projectId: stored.projectId,
      response,
      appendTo: appendTo ?? null,
      items: appendTo === undefined ? [] : encodeItems(itemsOf(stored)),
    });
    // Whoever waited for it goes on in a turn that does not begin with writing so much.
    if (isLarge) await othersRun();
    return response.response;
  }

  async find(projectId: string, id: string, nowMs: number): Promise<StoredResponse | null> {
    await this.#turns.arrived();
    const row = await this.#db
      .selectFrom('responses')
      .select(COLUMNS)
      .where('id', '=', id)
      .where('key_id', '=', projectId)
      .where('expires_at', '>', nowMs)
      .executeTakeFirst();
    return row ? decodeResponse(row) : null;
  }

  async chain(projectId: string, id: string, nowMs: number): Promise<readonly StoredResponse[] | null> {
    await this.#turns.arrived();
    // One question for all of them, latest first. What is missing ends it before the one that continues nothing.
    const { rows } = await sql<FoundRow>`
      with recursive chain as (
        select r.*, 1 as place from responses as r
          where r.id = ${id} and r.key_id = ${projectId} and r.expires_at > ${nowMs}
        union all
        select r.*, c.place + 1 from chain as c join responses as r on r.id = c.previous_id
          where r.key_id = ${projectId} and r.expires_at > ${nowMs}
      )
      select ${sql.join(COLUMNS.map((name) => sql.ref(name)))} from chain order by place`.execute(this.#db);
    const first = rows.at(-1);
    return first?.previous_id === null ? rows.toReversed().map(decodeResponse) : null;
  }

  async findItem(projectId: string, itemId: string, nowMs: number): Promise<JsonObject | null> {
    await this.#turns.arrived();
    const item = await this.#conversations.findOfKey(projectId, itemId, nowMs);
    if (item) return item;
    const needle = JSON.stringify(itemId);
    const rows = await this.#db
      .selectFrom('response_ids as i')
      .innerJoin('responses as r', 'r.row', 'i.response_row')
      .select(['r.response', 'r.input'])
      .where('i.place', '=', placeOf(itemId))
      .where('i.key_id', '=', projectId)
      .where('r.expires_at', '>', nowMs)
      .where(sql<boolean>`(strpos(r.response, ${needle}) > 0 or strpos(r.input, ${needle}) > 0)`)
      .orderBy('i.response_row', 'desc')
      .limit(MENTIONS)
      .execute();
    return itemOf(rows.map(decodeTexts), itemId);
  }

  async delete(projectId: string, id: string): Promise<boolean> {
    await this.#turns.arrived();
    return this.#transaction(async (tx) => {
      const head = await tx
        .selectFrom('responses')
        .select(['row', 'bytes'])
        .where('id', '=', id)
        .where('key_id', '=', projectId)
        .forUpdate()
        .executeTakeFirst();
      if (!head) return false;
      await this.#usage.removeResponses(tx, [head.row]);
      await this.#usage.release(tx, projectId, head.bytes, 0);
      await noteDeleted(tx, projectId, id);
      return true;
    });
  }

  async purge(nowMs: number): Promise<number> {
    await forgetDeleted(this.#db, nowMs);
    return this.#transaction(async (tx) => {
      const expired = await tx
        .selectFrom('responses')
        .select(['row', 'key_id', 'bytes'])
        .where('expires_at', '<=', nowMs)
        .orderBy('expires_at')
        .orderBy('row')
        .limit(PURGE_ROWS)
        .forUpdate()
        .skipLocked()
        .execute();
      if (expired.length === 0) return 0;
      await this.#usage.removeResponses(
        tx,
        expired.map(({ row }) => row),
      );
      const freed = new Map<string, number>();
      for (const { key_id: projectId, bytes } of expired)
        freed.set(projectId, (freed.get(projectId) ?? 0) + bytes);
      // In one order, so that two processes never wait for each other.
      for (const [projectId, bytes] of [...freed].toSorted(([a], [b]) => (a < b ? -1 : 1)))
        await this.#usage.release(tx, projectId, bytes, 0);
      return expired.length;
    });
  }
}
