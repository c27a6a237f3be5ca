// Stored responses in SQLite: one row each with its items inside, and an index of the items' ids. Knows nothing of
// what an item says, besides its id.
import { type Kysely, sql } from 'kysely';
import { asArray, asString, isJsonObject, type JsonObject } from '../canonical/index.ts';
import type { SqlConnection, SqlStatement } from '../runtime/sqlite.ts';
import { bytesOf, type ConversationItems, encodeItems } from './conversation-items.ts';
import type { GroupCommit } from './group-commit.ts';
import type { ResponseStore, StoredResponse } from './ports.ts';
import type { ResponseTable, Schema } from './schema.ts';
import {
  notExpired,
  RESPONSE_HEAD,
  type ResponseHead,
  ROW_BYTES,
  type SqliteStateUsage,
} from './state-usage.ts';

/** Deleted in one go: about a millisecond, so that a purge never holds up a stream. */
const PURGE_ROWS = 40;
/** A purge ends sooner when it has deleted this much: the pages of large rows are freed one by one. */
const PURGE_BYTES = 2_000_000;

type ResponseRow = Omit<ResponseTable, 'row' | 'bytes' | 'item_ids'>;

export class SqliteResponses implements ResponseStore {
  readonly #commits: GroupCommit;
  readonly #usage: SqliteStateUsage;
  readonly #conversations: ConversationItems;
  /** Binds the columns in their order, without `row`. */
  readonly #insert: SqlStatement;
  /** Binds key id, row, JSON array of item ids. */
  readonly #insertItems: SqlStatement;
  /** Binds id, key id, now. */
  readonly #find: SqlStatement;
  /** Binds key id, item id, now, 1. */
  readonly #findItem: SqlStatement;
  /** Binds id, key id. */
  readonly #head: SqlStatement;
  /** Binds now and the number of rows. */
  readonly #expired: SqlStatement;

  constructor(
    connection: SqlConnection,
    db: Kysely<Schema>,
    commits: GroupCommit,
    usage: SqliteStateUsage,
    conversations: ConversationItems,
  ) {
    this.#commits = commits;
    this.#usage = usage;
    this.#conversations = conversations;
    const insert = db
      .insertInto('responses')
      .values({
        id: '',
        key_id: '',
        created_at: 0,
        expires_at: 0,
        previous_id: '',
        conversation_id: '',
        bytes: 0,
        item_ids: '',
        response: '',
        input: '',
      })
      .onConflict((conflict) => conflict.column('id').doNothing());
    const insertItems = db
      .insertInto('response_items')
      .columns(['key_id', 'response_row', 'item_id'])
      .expression(
        db
          .selectFrom(sql<{ value: string }>`json_each(${''})`.as('ids'))
          .select([sql<string>`${''}`.as('key_id'), sql<number>`${0}`.as('response_row'), 'ids.value']),
      );
    const find = db
      .selectFrom('responses')
      .select(['id', 'key_id', 'created_at', 'expires_at', 'previous_id', 'conversation_id'])
      .select(['response', 'input'])
      .where('id', '=', '')
      .where('key_id', '=', '')
      .where(notExpired('expires_at'));
    const findItem = db
      .selectFrom('response_items as i')
      .innerJoin('responses as r', 'r.row', 'i.response_row')
      .select(['r.response', 'r.input'])
      .where('i.key_id', '=', '')
      .where('i.item_id', '=', '')
      .where(notExpired('r.expires_at'))
      .orderBy('i.response_row', 'desc')
      .limit(1);
    const head = db
      .selectFrom('responses')
      .select(RESPONSE_HEAD)
      .where('id', '=', '')
      .where('key_id', '=', '');
    const expired = db
      .selectFrom('responses')
      .select(RESPONSE_HEAD)
      .where('expires_at', '<=', 0)
      .orderBy('expires_at')
      .limit(1);
    this.#insert = connection.prepare(insert.compile().sql);
    this.#insertItems = connection.prepare(insertItems.compile().sql);
    this.#find = connection.prepare(find.compile().sql);
    this.#findItem = connection.prepare(findItem.compile().sql);
    this.#head = connection.prepare(head.compile().sql);
    this.#expired = connection.prepare(expired.compile().sql);
  }

  async put(response: StoredResponse, appendTo?: string): Promise<void> {
    const { id, keyId } = response;
    const output = asArray(response.response['output']).filter(isJsonObject);
    const items = [...response.input, ...output];
    const ids = [...new Set(items.map((item) => asString(item['id'])).filter((item) => item !== undefined))];
    const appended = appendTo === undefined ? [] : encodeItems(items);
    const texts = [
      JSON.stringify(ids),
      JSON.stringify(response.response),
      JSON.stringify(response.input),
    ] as const;
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), (1 + ids.length) * ROW_BYTES);

    const refusal = await this.#commits.run(() => {
      const conversation = appendTo === undefined ? undefined : this.#conversations.rowOf(keyId, appendTo);
      const kept = conversation === undefined ? 0 : bytesOf(appended);
      const refused = this.#usage.claim(keyId, bytes, kept);
      if (refused) return refused;
      const { createdAt, expiresAt, previousId, conversationId } = response;
      const inserted = this.#insert.run(
        id,
        keyId,
        createdAt,
        expiresAt,
        previousId,
        conversationId,
        bytes,
        ...texts,
      );
      if (inserted.changes === 0) {
        this.#usage.release(keyId, bytes, kept);
        return null;
      }
      if (ids.length > 0) this.#insertItems.run(keyId, inserted.lastInsertRowid, texts[0]);
      if (conversation !== undefined) this.#conversations.write(conversation, keyId, appended);
      return null;
    });
    if (refusal) throw refusal;
  }

  async find(keyId: string, id: string, nowMs: number): Promise<StoredResponse | null> {
    return this.#read(keyId, id, nowMs);
  }

  async chain(keyId: string, id: string, nowMs: number): Promise<readonly StoredResponse[] | null> {
    const chain: StoredResponse[] = [];
    for (let next: string | null = id; next !== null;) {
      const response = this.#read(keyId, next, nowMs);
      if (!response) return null;
      chain.push(response);
      next = response.previousId;
    }
    return chain.reverse();
  }

  async findItem(keyId: string, itemId: string, nowMs: number): Promise<JsonObject | null> {
    const item = this.#conversations.findOfKey(keyId, itemId, nowMs);
    if (item) return item;
    const row = this.#findItem.all(keyId, itemId, nowMs, 1)[0] as ResponseRow | undefined;
    if (!row) return null;
    const { response, input } = decodeTexts(row);
    const items = [...asArray(response['output']).filter(isJsonObject), ...input];
    return items.find(({ id }) => id === itemId) ?? null;
  }

  async delete(keyId: string, id: string): Promise<boolean> {
    return this.#commits.run(() => {
      const head = this.#head.all(id, keyId)[0] as ResponseHead | undefined;
      if (head) this.#usage.removeResponse(head);
      return head !== undefined;
    });
  }

  async purge(nowMs: number): Promise<number> {
    // Asked first: mostly there is nothing to do, and a transaction would wait for other processes.
    if (this.#expired.all(nowMs, 1).length === 0) return 0;
    return this.#commits.run(() => {
      let bytes = 0;
      let rows = 0;
      for (const head of this.#expired.all(nowMs, PURGE_ROWS) as unknown as readonly ResponseHead[]) {
        this.#usage.removeResponse(head);
        rows += 1;
        bytes += head.bytes;
        if (bytes > PURGE_BYTES) break;
      }
      return rows;
    });
  }

  #read(keyId: string, id: string, nowMs: number): StoredResponse | null {
    const row = this.#find.all(id, keyId, nowMs)[0] as ResponseRow | undefined;
    return (
      (row && {
        id: row.id,
        keyId: row.key_id,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
        previousId: row.previous_id,
        conversationId: row.conversation_id,
        ...decodeTexts(row),
      }) ??
      null
    );
  }
}

function decodeTexts(
  row: Pick<ResponseRow, 'response' | 'input'>,
): Pick<StoredResponse, 'response' | 'input'> {
  return { response: JSON.parse(row.response) as JsonObject, input: JSON.parse(row.input) as JsonObject[] };
}
