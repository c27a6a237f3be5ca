// The items of conversations in PostgreSQL: a row each, in the order of their numbers. Whoever adds one holds the row of the
// conversation until it commits, so the order of the numbers is the order in which they came.
import { type Kysely, sql } from 'kysely';
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import type { ItemPage, PageRequest } from '../ports.ts';
import { decodeItem, type ItemRow } from '../state/item-rows.ts';
import type { PostgresStateUsage } from './state-usage.ts';
import type { PostgresSchema, Tx } from './store.ts';

/** Items written with one statement. */
const ROWS = 500;

export class ConversationItems {
  readonly #db: Kysely<PostgresSchema>;
  readonly #usage: PostgresStateUsage;

  constructor(db: Kysely<PostgresSchema>, usage: PostgresStateUsage) {
    this.#db = db;
    this.#usage = usage;
  }

  /** The row of a conversation of this project, held until the commit; undefined when there is none. */
  async hold(tx: Tx, projectId: string, id: string): Promise<number | undefined> {
    const found = await tx
      .selectFrom('conversations')
      .select('row')
      .where('id', '=', id)
      .where('key_id', '=', projectId)
      .forUpdate()
      .executeTakeFirst();
    return found?.row;
  }

  /**
   * Appends what is not there to a conversation that is held.
   * @returns bytes that it counts for, which the caller claims
   */
  async write(tx: Tx, conversation: number, projectId: string, items: readonly ItemRow[]): Promise<number> {
    let written = 0;
    for (let from = 0; from < items.length; from += ROWS) {
      const rows = await tx
        .insertInto('conversation_items')
        .values(
          items.slice(from, from + ROWS).map(({ id, bytes, text }) => ({
            conversation_row: conversation,
            key_id: projectId,
            item_id: id,
            bytes,
            item: text,
          })),
        )
        .onConflict((conflict) => conflict.columns(['key_id', 'item_id', 'conversation_row']).doNothing())
        .returning('bytes')
        .execute();
      for (const { bytes } of rows) written += bytes;
    }
    if (written > 0) await this.grow(tx, conversation, written);
    return written;
  }

  async page(
    conversation: number,
    projectId: string,
    { after, limit, order }: PageRequest,
  ): Promise<ItemPage> {
    let query = this.#db
      .selectFrom('conversation_items')
      .select('item')
      .where('conversation_row', '=', conversation);
    if (after !== undefined) {
      const place = await this.#at(conversation, projectId, after);
      if (!place)
        throw new GatewayError('invalid_request', `no item '${after}' in this conversation`, {
          param: 'after',
        });
      query = query.where('row', order === 'asc' ? '>' : '<', place.row);
    }
    // One more than asked for: it says whether there are more.
    const rows = await query
      .orderBy('row', order)
      .limit(limit + 1)
      .execute();
    return { items: rows.slice(0, limit).map(decodeItem), hasMore: rows.length > limit };
  }

  async find(conversation: number, projectId: string, itemId: string): Promise<JsonObject | null> {
    const place = await this.#at(conversation, projectId, itemId);
    return place ? decodeItem(place) : null;
  }

  /** The item of this id in the latest conversation of the project that has one. */
  async findOfKey(projectId: string, itemId: string, nowMs: number): Promise<JsonObject | null> {
    const row = await this.#db
      .selectFrom('conversation_items as i')
      .innerJoin('conversations as c', 'c.row', 'i.conversation_row')
      .select('i.item')
      .where('i.key_id', '=', projectId)
      .where('i.item_id', '=', itemId)
      .whereRef('c.key_id', '=', 'i.key_id')
      .where('c.expires_at', '>', nowMs)
      .orderBy('i.conversation_row', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row ? decodeItem(row) : null;
  }

  /** False when there is no such item. The conversation is held. */
  async remove(tx: Tx, conversation: number, projectId: string, itemId: string): Promise<boolean> {
    const gone = await tx
      .deleteFrom('conversation_items')
      .where('key_id', '=', projectId)
      .where('item_id', '=', itemId)
      .where('conversation_row', '=', conversation)
      .returning('bytes')
      .executeTakeFirst();
    if (!gone) return false;
    await this.grow(tx, conversation, -gone.bytes);
    await this.#usage.release(tx, projectId, 0, gone.bytes);
    return true;
  }

  /** Deletes at most `limit` items of a conversation that counts no more. Returns how many. */
  async clear(tx: Tx, conversation: number, limit: number): Promise<number> {
    const some = tx
      .selectFrom('conversation_items')
      .select('row')
      .where('conversation_row', '=', conversation)
      .limit(limit);
    const { numDeletedRows } = await tx
      .deleteFrom('conversation_items')
      .where('row', 'in', some)
      .executeTakeFirst();
    return Number(numDeletedRows);
  }

  async grow(tx: Tx, conversation: number, bytes: number): Promise<void> {
    await tx
      .updateTable('conversations')
      .set({ bytes: sql`bytes + ${bytes}` })
      .where('row', '=', conversation)
      .execute();
  }

  #at(
    conversation: number,
    projectId: string,
    itemId: string,
  ): Promise<{ readonly row: number; readonly item: string } | undefined> {
    return this.#db
      .selectFrom('conversation_items')
      .select(['row', 'item'])
      .where('key_id', '=', projectId)
      .where('item_id', '=', itemId)
      .where('conversation_row', '=', conversation)
      .executeTakeFirst();
  }
}
