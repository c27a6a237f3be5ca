// The items of conversations in SQLite: a row each, in the order of their row numbers. Writes run inside a
// transaction of somebody else, so that a turn's response and its items appear together.
import type { Kysely } from 'kysely';
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import type { SqlConnection, SqlStatement } from '../../runtime/sqlite.ts';
import type { ItemPage, PageRequest } from '../ports.ts';
import type { Schema } from './schema.ts';
import { bytesOf, decodeItem, type ItemRow } from '../state/item-rows.ts';
import type { SqliteStateUsage } from './state-usage.ts';

interface Place {
  readonly row: number;
  readonly bytes: number;
  readonly item: string;
}

export class ConversationItems {
  readonly #usage: SqliteStateUsage;
  /** Binds id, key id. */
  readonly #rowOf: SqlStatement;
  /** Binds conversation row, key id, item id, bytes, text. */
  readonly #insert: SqlStatement;
  /** Binds bytes, conversation row. */
  readonly #grow: SqlStatement;
  /** Bind conversation row, row, limit. */
  readonly #following: SqlStatement;
  readonly #preceding: SqlStatement;
  /** Binds key id, item id, conversation row. */
  readonly #place: SqlStatement;
  /** Binds key id, item id, now, 1. */
  readonly #ofKey: SqlStatement;
  /** Binds row. */
  readonly #remove: SqlStatement;
  /** Binds conversation row, limit. */
  readonly #clear: SqlStatement;

  constructor(connection: SqlConnection, db: Kysely<Schema>, usage: SqliteStateUsage) {
    this.#usage = usage;
    const rowOf = db.selectFrom('conversations').select('row').where('id', '=', '').where('key_id', '=', '');
    const insert = db
      .insertInto('conversation_items')
      .values({ conversation_row: 0, key_id: '', item_id: '', bytes: 0, item: '' })
      .onConflict((conflict) => conflict.columns(['key_id', 'item_id', 'conversation_row']).doNothing());
    const grow = db
      .updateTable('conversations')
      .set((eb) => ({ bytes: eb('bytes', '+', 0) }))
      .where('row', '=', 0);
    const page = db.selectFrom('conversation_items').select('item').where('conversation_row', '=', 0);
    const following = page.where('row', '>', 0).orderBy('row').limit(1);
    const preceding = page.where('row', '<', 0).orderBy('row', 'desc').limit(1);
    const place = db
      .selectFrom('conversation_items')
      .select(['row', 'bytes', 'item'])
      .where('key_id', '=', '')
      .where('item_id', '=', '')
      .where('conversation_row', '=', 0);
    const ofKey = db
      .selectFrom('conversation_items as i')
      .innerJoin('conversations as c', 'c.row', 'i.conversation_row')
      .select('i.item')
      .where('i.key_id', '=', '')
      .where('i.item_id', '=', '')
      .whereRef('c.key_id', '=', 'i.key_id')
      .where('c.expires_at', '>', 0)
      .orderBy('i.conversation_row', 'desc')
      .limit(1);
    const remove = db.deleteFrom('conversation_items').where('row', '=', 0);
    const some = db.selectFrom('conversation_items').select('row').where('conversation_row', '=', 0).limit(1);
    const clear = db.deleteFrom('conversation_items').where('row', 'in', some);
    this.#rowOf = connection.prepare(rowOf.compile().sql);
    this.#insert = connection.prepare(insert.compile().sql);
    this.#grow = connection.prepare(grow.compile().sql);
    this.#following = connection.prepare(following.compile().sql);
    this.#preceding = connection.prepare(preceding.compile().sql);
    this.#place = connection.prepare(place.compile().sql);
    this.#ofKey = connection.prepare(ofKey.compile().sql);
    this.#remove = connection.prepare(remove.compile().sql);
    this.#clear = connection.prepare(clear.compile().sql);
  }

  /** The row of a conversation of this project; undefined when there is none. */
  rowOf(projectId: string, id: string): number | undefined {
    return this.#rowOf.all(id, projectId)[0]?.['row'] as number | undefined;
  }

  /** Appends items whose bytes were claimed; what was there already is given back. Inside a transaction. */
  write(conversation: number, projectId: string, items: readonly ItemRow[]): void {
    let written = 0;
    for (const { id, bytes, text } of items)
      if (this.#insert.run(conversation, projectId, id, bytes, text).changes > 0) written += bytes;
    if (written > 0) this.#grow.run(written, conversation);
    const claimed = bytesOf(items);
    if (written < claimed) this.#usage.release(projectId, 0, claimed - written);
  }

  page(conversation: number, projectId: string, { after, limit, order }: PageRequest): ItemPage {
    const place = after === undefined ? undefined : this.#at(conversation, projectId, after);
    if (after !== undefined && !place)
      throw new GatewayError('invalid_request', `no item '${after}' in this conversation`, {
        param: 'after',
      });
    // One more than asked for: it says whether there are more.
    const rows =
      order === 'asc'
        ? this.#following.all(conversation, place?.row ?? 0, limit + 1)
        : this.#preceding.all(conversation, place?.row ?? Number.MAX_SAFE_INTEGER, limit + 1);
    return { items: rows.slice(0, limit).map(decodeItem), hasMore: rows.length > limit };
  }

  all(conversation: number): readonly JsonObject[] {
    return this.#following.all(conversation, 0, -1).map(decodeItem);
  }

  find(conversation: number, projectId: string, itemId: string): JsonObject | null {
    const place = this.#at(conversation, projectId, itemId);
    return place ? decodeItem(place) : null;
  }

  /** The item of this id in the latest conversation of the key that has one. */
  findOfKey(projectId: string, itemId: string, nowMs: number): JsonObject | null {
    const row = this.#ofKey.all(projectId, itemId, nowMs, 1)[0];
    return row ? decodeItem(row) : null;
  }

  /** False when there is no such item. Inside a transaction. */
  remove(conversation: number, projectId: string, itemId: string): boolean {
    const place = this.#at(conversation, projectId, itemId);
    if (!place) return false;
    this.#remove.run(place.row);
    this.#grow.run(-place.bytes, conversation);
    this.#usage.release(projectId, 0, place.bytes);
    return true;
  }

  /** Deletes the items of a conversation that counts no more, one whenever it is asked. Inside a transaction. */
  *clear(conversation: number): Generator<number> {
    while (this.#clear.run(conversation, 1).changes > 0) yield 1;
  }

  #at(conversation: number, projectId: string, itemId: string): Place | undefined {
    return this.#place.all(projectId, itemId, conversation)[0] as Place | undefined;
  }
}
