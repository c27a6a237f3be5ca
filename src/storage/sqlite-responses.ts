// Stored responses: durable with one write to the journal, in SQLite soon after. Those that belong to a conversation are
// written there at once, with their items.
import { sql } from 'kysely';
import type { JsonObject } from '../canonical/index.ts';
import type { SqlStatement } from '../runtime/sqlite.ts';
import { CompactWriter } from './compact/writer.ts';
import { bytesOf, type ConversationItems, encodeItems, type ItemRow } from './conversation-items.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Indexer } from './journal/indexer.ts';
import { isSmall, jsonTexts } from './json-text.ts';
import type { ResponseStore, StoredResponse } from './ports.ts';
import {
  itemsOf,
  placeOf,
  readEntry,
  type ResponseRow,
  responseRow,
  ResponseRows,
  storedOf,
  writeEntry,
} from './response-rows.ts';
import type { ResponseTable } from './schema.ts';
import type { SqliteBase } from './sqlite-store.ts';
import { NEVER, type ResponseHead, type SqliteStateUsage } from './state-usage.ts';

/** Deleted in one go: about a millisecond, so that a purge never holds up a stream. */
const PURGE_ROWS = 20;
/** A purge ends sooner when it has deleted this much: the pages of large rows are freed one by one. */
const PURGE_BYTES = 1_000_000;

/** Responses looked into for an item: nearly always the first has it, but a text may only mention the id. */
const MENTIONS = 8;

type FoundRow = Omit<ResponseTable, 'row' | 'bytes' | 'places'>;

/** How often, and how long, a deletion waits for another process to bring in what is to be deleted. */
const MOST_WAITS = 100;
const WAIT_MS = 50;

/** The kind of a response's entries in journals. */
const RESPONSE_ENTRY = 2;

/** Only ids that a text holds may be found in it. */
const NO_NAMES = { numberOf: () => undefined };

export class SqliteResponses implements ResponseStore {
  readonly #commits: GroupCommit;
  readonly #indexer: Indexer;
  readonly #usage: SqliteStateUsage;
  readonly #conversations: ConversationItems;
  readonly #rows: ResponseRows;
  readonly #writer = new CompactWriter(NO_NAMES);
  /** By key and id: what the journal has and the database may not have yet. */
  readonly #fresh = new Map<string, ResponseRow>();
  /** Binds place, key id, id, now, 1. */
  readonly #find: SqlStatement;
  /** Binds place, key id, now, the item's id in JSON twice, the number of rows. */
  readonly #findItem: SqlStatement;
  /** Binds now and the number of rows. */
  readonly #expired: SqlStatement;

  constructor({ connection, db, commits, indexer, usage, items }: SqliteBase) {
    this.#commits = commits;
    this.#indexer = indexer;
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
    indexer.register(RESPONSE_ENTRY, {
      read: readEntry,
      write: (rows) => this.#write(rows),
      written: (rows) => {
        for (const { keyId, id } of rows) this.#fresh.delete(freshKey(keyId, id));
      },
      byOwnerOnly: true,
    });
  }

  async put(stored: StoredResponse, appendTo?: string): Promise<void> {
    const [text = '', input = ''] = isSmall(stored.response, stored.input)
      ? [JSON.stringify(stored.response), JSON.stringify(stored.input)]
      : await jsonTexts([stored.response, stored.input]);
    const row = responseRow(stored, text, input);
    if (appendTo !== undefined) return this.#putInto(appendTo, row, encodeItems(itemsOf(stored)));
    const refusal = this.#usage.refusalOf(row.keyId, row.bytes);
    if (refusal) throw refusal;
    const key = freshKey(row.keyId, row.id);
    if (this.#fresh.has(key)) return;
    this.#writer.reset();
    writeEntry(this.#writer, row);
    this.#indexer.append(RESPONSE_ENTRY, this.#writer.written());
    // As texts: a graph of objects that lives for a while costs the collector more than parsing one that is asked for.
    this.#fresh.set(key, row);
  }

  /** Together with the items that it adds to a conversation: both are there or none. */
  async #putInto(conversationId: string, row: ResponseRow, items: readonly ItemRow[]): Promise<void> {
    const refusal = await this.#commits.run(() => {
      if (this.#rows.headOf(row.keyId, row.id)) return null;
      const conversation = this.#conversations.rowOf(row.keyId, conversationId);
      const kept = conversation === undefined ? 0 : bytesOf(items);
      const refused = this.#usage.claim(row.keyId, row.bytes, kept);
      if (refused) return refused;
      this.#rows.insert(row);
      if (conversation !== undefined) this.#conversations.write(conversation, row.keyId, items);
      return null;
    });
    if (refusal) throw refusal;
  }

  /** Rows of a journal, which nobody refused. Inside a transaction. */
  #write(rows: readonly ResponseRow[]): void {
    const added = new Map<string, number>();
    for (const row of rows) {
      if (this.#rows.insert(row)) added.set(row.keyId, (added.get(row.keyId) ?? 0) + row.bytes);
    }
    for (const [keyId, bytes] of added) this.#usage.add(keyId, bytes);
  }

  async find(keyId: string, id: string, nowMs: number): Promise<StoredResponse | null> {
    const found = this.#read(keyId, id, nowMs);
    if (found) return found;
    const others = this.#ofOthers(keyId, nowMs);
    // What is not in a journal any more is in the database by now.
    return others && (others.find((response) => response.id === id) ?? this.#read(keyId, id, nowMs));
  }

  async chain(keyId: string, id: string, nowMs: number): Promise<readonly StoredResponse[] | null> {
    const chain: StoredResponse[] = [];
    for (let next: string | null = id; next !== null;) {
      const response: StoredResponse | null = await this.find(keyId, next, nowMs);
      if (!response) return null;
      chain.push(response);
      next = response.previousId;
    }
    return chain.reverse();
  }

  async findItem(keyId: string, itemId: string, nowMs: number): Promise<JsonObject | null> {
    await this.#indexer.caughtUp();
    const item = this.#conversations.findOfKey(keyId, itemId, nowMs);
    if (item) return item;
    const found = this.#findItemIn(keyId, itemId, nowMs);
    if (found) return found;
    const others = this.#ofOthers(keyId, nowMs);
    return others && (itemOf(others, itemId) ?? this.#findItemIn(keyId, itemId, nowMs));
  }

  #findItemIn(keyId: string, itemId: string, nowMs: number): JsonObject | null {
    const needle = JSON.stringify(itemId);
    const rows = this.#findItem.all(placeOf(itemId), keyId, nowMs, needle, needle, MENTIONS);
    return itemOf((rows as unknown as readonly FoundRow[]).map(decodeTexts), itemId);
  }

  async delete(keyId: string, id: string): Promise<boolean> {
    await this.#indexer.caughtUp();
    for (let waits = 0; waits < MOST_WAITS; waits++) {
      if (await this.#delete(keyId, id)) return true;
      // Who wrote it brings it in before long, and must not do so after the deletion.
      if (!this.#ofOthers(keyId, 0)?.some((response) => response.id === id)) break;
      await new Promise((resolve) => void setTimeout(resolve, WAIT_MS));
    }
    return this.#delete(keyId, id);
  }

  #delete(keyId: string, id: string): Promise<boolean> {
    return this.#commits.run(() => {
      const head = this.#rows.headOf(keyId, id);
      if (head) this.#usage.removeResponse(head);
      return head !== undefined;
    });
  }

  async purge(nowMs: number): Promise<number> {
    await this.#indexer.caughtUp();
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

  /** What other processes have taken of a key, and may not have brought in yet; null when there are none. */
  #ofOthers(keyId: string, nowMs: number): readonly StoredResponse[] | null {
    const contents = this.#indexer.entriesOfOthers(RESPONSE_ENTRY);
    const own = contents?.map(readEntry).filter((row) => row.keyId === keyId && row.expiresAt > nowMs);
    return own?.map(storedOf) ?? null;
  }

  #read(keyId: string, id: string, nowMs: number): StoredResponse | null {
    const fresh = this.#fresh.get(freshKey(keyId, id));
    if (fresh) return fresh.expiresAt > nowMs ? storedOf(fresh) : null;
    const row = this.#find.all(placeOf(id), keyId, id, nowMs, 1)[0] as FoundRow | undefined;
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

/** Keys are no client's choice, and hold no such character. */
function freshKey(keyId: string, id: string): string {
  return `${keyId} ${id}`;
}

function decodeTexts(row: Pick<FoundRow, 'response' | 'input'>): Pick<StoredResponse, 'response' | 'input'> {
  return { response: JSON.parse(row.response) as JsonObject, input: JSON.parse(row.input) as JsonObject[] };
}
