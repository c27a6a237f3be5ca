// Stored responses in SQLite: one row each with its items inside, and an index that leads from ids to rows. Knows
// nothing of what an item says, besides its id.
import { type Kysely, sql } from 'kysely';
import { asArray, asString, isJsonObject, type JsonObject } from '../canonical/index.ts';
import type { SqlConnection, SqlStatement } from '../runtime/sqlite.ts';
import { bytesOf, type ConversationItems, encodeItems } from './conversation-items.ts';
import type { GroupCommit } from './group-commit.ts';
import type { ResponseStore, StoredResponse } from './ports.ts';
import type { ResponseTable, Schema } from './schema.ts';
import { NEVER, type ResponseHead, ROW_BYTES, type SqliteStateUsage } from './state-usage.ts';

/** Deleted in one go: about a millisecond, so that a purge never holds up a stream. */
const PURGE_ROWS = 20;
/** A purge ends sooner when it has deleted this much: the pages of large rows are freed one by one. */
const PURGE_BYTES = 1_000_000;

/** Responses looked into for an item: nearly always the first has it, but a text may only mention the id. */
const MENTIONS = 8;

type ResponseRow = Omit<ResponseTable, 'row' | 'bytes' | 'places'>;

/** What follows the type in ids that are made from a generation's: its 32 digits, and perhaps a number of the item. */
const GENERATION_ID = /^[0-9a-f]{32}(?=_|$)/;

/** Clients may choose ids of items, and need not keep them short. What is found at a place is compared with the whole id. */
const LONGEST_PLACE = 64;

/**
 * Where `response_ids` lists an id. It begins with what follows the type (`msg_…`): for the gateway's own ids that
 * is the generation, which all ids of a turn share, and for others at least the part that lies close together.
 */
function placeOf(id: string): string {
  const tail = id.slice(id.indexOf('_') + 1);
  return GENERATION_ID.exec(tail)?.[0] ?? tail.slice(0, LONGEST_PLACE);
}

export class SqliteResponses implements ResponseStore {
  readonly #commits: GroupCommit;
  readonly #usage: SqliteStateUsage;
  readonly #conversations: ConversationItems;
  /** Binds the columns in their order, without `row`. */
  readonly #insert: SqlStatement;
  /** Binds place, key id, row. */
  readonly #insertId: SqlStatement;
  /** Binds place, key id, id, now, 1. */
  readonly #find: SqlStatement;
  /** Binds place, key id, now, the item's id in JSON twice, the number of rows. */
  readonly #findItem: SqlStatement;
  /** Binds place, key id, id, 1. */
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
    const insert = db.insertInto('responses').values({
      id: '',
      key_id: '',
      created_at: 0,
      expires_at: 0,
      previous_id: '',
      conversation_id: '',
      bytes: 0,
      places: '',
      response: '',
      input: '',
    });
    const insertId = db.insertInto('response_ids').values({ place: '', key_id: '', response_row: 0 });
    const listed = db
      .selectFrom('response_ids as i')
      .innerJoin('responses as r', 'r.row', 'i.response_row')
      .where('i.place', '=', '')
      .where('i.key_id', '=', '');
    // A response is the first to be listed at its own place: later ones may have been sent its items again.
    const own = listed.where('r.id', '=', '').orderBy('i.response_row').limit(1);
    const find = listed
      .select(['r.id', 'r.key_id', 'r.created_at', 'r.expires_at', 'r.previous_id', 'r.conversation_id'])
      .select(['r.response', 'r.input'])
      .where('r.id', '=', '')
      .where('r.expires_at', '>', 0)
      .orderBy('i.response_row')
      .limit(1);
    const findItem = listed
      .select(['r.response', 'r.input'])
      .where('r.expires_at', '>', 0)
      .where(sql<boolean>`(instr(r.response, ${''}) or instr(r.input, ${''}))`)
      .orderBy('i.response_row', 'desc')
      .limit(1);
    const head = own.select(['r.row', 'r.key_id', 'r.bytes', 'r.places']);
    // Key by key, because that is how they are indexed: SQLite takes the tables of a cross join in this order. A key
    // that stores anything has a row in `state_usage`.
    const expired = db
      .selectFrom('state_usage as u')
      .crossJoin('responses as r')
      .select(['r.row', 'r.key_id', 'r.bytes', 'r.places'])
      .whereRef('r.key_id', '=', 'u.key_id')
      .where('r.expires_at', '<=', 0)
      .limit(1);
    this.#insert = connection.prepare(insert.compile().sql);
    this.#insertId = connection.prepare(insertId.compile().sql);
    this.#find = connection.prepare(find.compile().sql);
    this.#findItem = connection.prepare(findItem.compile().sql);
    this.#head = connection.prepare(head.compile().sql);
    this.#expired = connection.prepare(expired.compile().sql);
  }

  async put(response: StoredResponse, appendTo?: string): Promise<void> {
    const { id, keyId, createdAt, previousId, conversationId } = response;
    const expiresAt = response.expiresAt ?? NEVER;
    const items = itemsOf(response);
    const places = placesOf(id, items);
    const listed = JSON.stringify(places);
    const text = JSON.stringify(response.response);
    const input = JSON.stringify(response.input);
    const bytes = Buffer.byteLength(text) + Buffer.byteLength(input) + (1 + places.length) * ROW_BYTES;
    const appended = appendTo === undefined ? [] : encodeItems(items);

    const refusal = await this.#commits.run(() => {
      if (this.#headOf(keyId, id)) return null;
      const conversation = appendTo === undefined ? undefined : this.#conversations.rowOf(keyId, appendTo);
      const kept = conversation === undefined ? 0 : bytesOf(appended);
      const refused = this.#usage.claim(keyId, bytes, kept);
      if (refused) return refused;
      const { lastInsertRowid: row } = this.#insert.run(
        id,
        keyId,
        createdAt,
        expiresAt,
        previousId,
        conversationId,
        bytes,
        listed,
        text,
        input,
      );
      for (const place of places) this.#insertId.run(place, keyId, row);
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
    const needle = JSON.stringify(itemId);
    const rows = this.#findItem.all(placeOf(itemId), keyId, nowMs, needle, needle, MENTIONS);
    for (const row of rows as unknown as readonly ResponseRow[]) {
      const found = itemsOf(decodeTexts(row)).findLast(({ id }) => id === itemId);
      if (found) return found;
    }
    return null;
  }

  async delete(keyId: string, id: string): Promise<boolean> {
    return this.#commits.run(() => {
      const head = this.#headOf(keyId, id);
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

  #headOf(keyId: string, id: string): ResponseHead | undefined {
    return this.#head.all(placeOf(id), keyId, id, 1)[0] as ResponseHead | undefined;
  }

  #read(keyId: string, id: string, nowMs: number): StoredResponse | null {
    const row = this.#find.all(placeOf(id), keyId, id, nowMs, 1)[0] as ResponseRow | undefined;
    return (
      (row && {
        id: row.id,
        keyId: row.key_id,
        createdAt: row.created_at,
        expiresAt: row.expires_at === NEVER ? null : row.expires_at,
        previousId: row.previous_id,
        conversationId: row.conversation_id,
        ...decodeTexts(row),
      }) ??
      null
    );
  }
}

/** Input and output items of a turn, in order. */
function itemsOf({ response, input }: Pick<StoredResponse, 'response' | 'input'>): readonly JsonObject[] {
  return [...input, ...asArray(response['output']).filter(isJsonObject)];
}

/** Every place under which the response or one of its items is looked for, once. */
function placesOf(id: string, items: readonly JsonObject[]): readonly string[] {
  const places = new Set([placeOf(id)]);
  for (const item of items) {
    const itemId = asString(item['id']);
    if (itemId !== undefined) places.add(placeOf(itemId));
  }
  return [...places];
}

function decodeTexts(
  row: Pick<ResponseRow, 'response' | 'input'>,
): Pick<StoredResponse, 'response' | 'input'> {
  return { response: JSON.parse(row.response) as JsonObject, input: JSON.parse(row.input) as JsonObject[] };
}
