// Stored responses in SQLite, and in the conversations that they belong to. Durable with the next group commit.
import { sql } from 'kysely';
import type { JsonObject } from '../../canonical/index.ts';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import { bytesOf, type ConversationItems, encodeItems } from './conversation-items.ts';
import type { GroupCommit } from './group-commit.ts';
import { isSmall, jsonTexts, turn } from '../json-text.ts';
import type { ResponseStore, StoredResponse } from '../ports.ts';
import { itemsOf, placeOf, responseRow, ResponseRows } from './response-rows.ts';
import type { ResponseTable } from './schema.ts';
import type { SqliteBase } from './store.ts';
import { NEVER, type ResponseHead, type SqliteStateUsage } from './state-usage.ts';

/** Deleted in one go: about a millisecond, so that a purge never holds up a stream. */
const PURGE_ROWS = 20;
/** A purge ends sooner when it has deleted this much: the pages of large rows are freed one by one. */
const PURGE_BYTES = 1_000_000;

/** Responses looked into for an item: nearly always the first has it, but a text may only mention the id. */
const MENTIONS = 8;

type FoundRow = Omit<ResponseTable, 'row' | 'bytes' | 'places'>;

export class SqliteResponses implements ResponseStore {
  readonly #commits: GroupCommit;
  readonly #usage: SqliteStateUsage;
  readonly #conversations: ConversationItems;
  readonly #rows: ResponseRows;
  /** Binds place, key id, id, now, 1. */
  readonly #find: SqlStatement;
  /** Binds place, key id, now, the item's id in JSON twice, the number of rows. */
  readonly #findItem: SqlStatement;
  /** Binds now and the number of rows. */
  readonly #expired: SqlStatement;

  constructor({ connection, db, commits, usage, items }: SqliteBase) {
    this.#commits = commits;
    this.#usage = usage;
    this.#conversations = items;
    this.#rows = new ResponseRows(connection, db);
    const listed = db
      .selectFrom('response_ids as i')
      .innerJoin('responses as r', 'r.row', 'i.response_row')
      .where('i.place', '=', '')
      .where('i.key_id', '=', '');
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
    // Key by key, because that is how they are indexed: SQLite takes the tables of a cross join in this order. A key
    // that stores anything has a row in `state_usage`.
    const expired = db
      .selectFrom('state_usage as u')
      .crossJoin('responses as r')
      .select(['r.row', 'r.key_id', 'r.bytes', 'r.places'])
      .whereRef('r.key_id', '=', 'u.key_id')
      .where('r.expires_at', '<=', 0)
      .limit(1);
    this.#find = connection.prepare(find.compile().sql);
    this.#findItem = connection.prepare(findItem.compile().sql);
    this.#expired = connection.prepare(expired.compile().sql);
  }

  async put(stored: StoredResponse, appendTo?: string): Promise<void> {
    const small = isSmall(stored.response, stored.input);
    const [text = '', input = ''] = small
      ? [JSON.stringify(stored.response), JSON.stringify(stored.input)]
      : await jsonTexts([stored.response, stored.input]);
    const row = responseRow(stored, text, input);
    const appended = appendTo === undefined ? [] : encodeItems(itemsOf(stored));
    const refusal = await this.#commits.run(() => {
      if (this.#rows.headOf(row.projectId, row.id)) return null;
      const conversation =
        appendTo === undefined ? undefined : this.#conversations.rowOf(row.projectId, appendTo);
      const kept = conversation === undefined ? 0 : bytesOf(appended);
      const refused = this.#usage.claim(row.projectId, row.bytes, kept);
      if (refused) return refused;
      this.#rows.insert(row);
      if (conversation !== undefined) this.#conversations.write(conversation, row.projectId, appended);
      return null;
    });
    // Whoever waited for it goes on in a turn that does not begin with writing so much.
    if (!small) await turn();
    if (refusal) throw refusal;
  }

  async find(projectId: string, id: string, nowMs: number): Promise<StoredResponse | null> {
    return this.#read(projectId, id, nowMs);
  }

  async chain(projectId: string, id: string, nowMs: number): Promise<readonly StoredResponse[] | null> {
    const chain: StoredResponse[] = [];
    for (let next: string | null = id; next !== null;) {
      const response = this.#read(projectId, next, nowMs);
      if (!response) return null;
      chain.push(response);
      next = response.previousId;
    }
    return chain.reverse();
  }

  async findItem(projectId: string, itemId: string, nowMs: number): Promise<JsonObject | null> {
    const item = this.#conversations.findOfKey(projectId, itemId, nowMs);
    if (item) return item;
    const needle = JSON.stringify(itemId);
    const rows = this.#findItem.all(placeOf(itemId), projectId, nowMs, needle, needle, MENTIONS);
    return itemOf((rows as unknown as readonly FoundRow[]).map(decodeTexts), itemId);
  }

  async delete(projectId: string, id: string): Promise<boolean> {
    return this.#commits.run(() => {
      const head = this.#rows.headOf(projectId, id);
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

  #read(projectId: string, id: string, nowMs: number): StoredResponse | null {
    const row = this.#find.all(placeOf(id), projectId, id, nowMs, 1)[0] as FoundRow | undefined;
    return (
      (row && {
        id: row.id,
        projectId: row.key_id,
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

/** The latest item of this id in responses of which the latest come first. */
function itemOf(
  responses: readonly Pick<StoredResponse, 'response' | 'input'>[],
  itemId: string,
): JsonObject | null {
  for (const response of responses) {
    const found = itemsOf(response).findLast(({ id }) => id === itemId);
    if (found) return found;
  }
  return null;
}

function decodeTexts(row: Pick<FoundRow, 'response' | 'input'>): Pick<StoredResponse, 'response' | 'input'> {
  return { response: JSON.parse(row.response) as JsonObject, input: JSON.parse(row.input) as JsonObject[] };
}
