// Stored responses in SQLite, and in the conversations that they belong to. One that belongs to none is durable with one write
// to the journal, and a row soon after, with many others: whoever looks for what is not there has the journal brought in
// first. One that belongs to a conversation, or is large, is durable with the next group commit.
import { sql } from 'kysely';
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import { bytesOf, encodeItems } from '../state/item-rows.ts';
import type { ConversationItems } from './conversation-items.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Indexer } from '../journal/indexer.ts';
import { othersRun } from '../others-run.ts';
import type { ResponseStore, StoredResponse } from '../ports.ts';
import {
  decodeResponse,
  decodeTexts,
  type FoundRow,
  itemOf,
  itemsOf,
  placeOf,
  type ResponseHead,
  type ResponseRow,
  responseRow,
} from '../state/response-rows.ts';
import { type ArrivingRow, decodeEntry, encodeEntry, RESPONSE_ENTRY } from './response-entries.ts';
import { ResponseRows } from './response-rows.ts';
import type { Migration } from './migrations.ts';
import type { ShortSteps } from './short-steps.ts';
import type { SqliteBase } from './store.ts';
import type { SqliteStateUsage } from './state-usage.ts';

/** Expired responses that are looked for together, and keys that are asked in one go. */
const PURGE_ROWS = 50;
const PURGE_KEYS = 500;

/** Responses looked into for an item: nearly always the first has it, but a text may only mention the id. */
const MENTIONS = 8;

/** How long it is known that a response was deleted: longer than a journal is left behind, other than in a backup of it. */
const DELETED_KNOWN_MS = 90 * 86_400_000;

export const RESPONSES_MIGRATIONS: readonly Migration[] = [
  {
    name: 'deleted responses',
    isAdditive: true,
    async up(db) {
      await db.schema
        .createTable('responses_deleted')
        .addColumn('id', 'text', (c) => c.primaryKey().notNull())
        .addColumn('deleted_at', 'integer', (c) => c.notNull())
        .modifyEnd(sql`without rowid`)
        .execute();
      const table = db.schema.createIndex('responses_deleted_in_order').on('responses_deleted');
      await table.column('deleted_at').execute();
    },
  },
];

export class SqliteResponses implements ResponseStore {
  readonly #commits: GroupCommit;
  readonly #steps: ShortSteps;
  readonly #indexer: Indexer;
  readonly #now: () => number;
  readonly #usage: SqliteStateUsage;
  readonly #conversations: ConversationItems;
  readonly #rows: ResponseRows;
  /** Binds place, key id, id, now, 1. */
  readonly #find: SqlStatement;
  /** Binds place, key id, now, the item's id in JSON twice, the number of rows. */
  readonly #findItem: SqlStatement;
  /** Binds the key id after which those follow, and how many; gives the last of them. */
  readonly #lastKey: SqlStatement;
  /** Binds the key ids after which and up to which, now and the number of rows. */
  readonly #expired: SqlStatement;
  /** Up to which key a purge has come. */
  #purgedKey = '';

  constructor({ connection, db, commits, steps, indexer, entries, usage, items, now }: SqliteBase) {
    this.#commits = commits;
    this.#steps = steps;
    this.#indexer = indexer;
    this.#now = now;
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
      .where('u.key_id', '>', '')
      .where('u.key_id', '<=', '')
      .whereRef('r.key_id', '=', 'u.key_id')
      .where('r.expires_at', '<=', 0)
      .limit(1);
    const keys = db
      .selectFrom('state_usage')
      .select('key_id')
      .where('key_id', '>', '')
      .orderBy('key_id')
      .limit(1);
    const lastKey = db.selectFrom(keys.as('k')).select((eb) => eb.fn.max('key_id').as('last'));
    this.#find = connection.prepare(find.compile().sql);
    this.#findItem = connection.prepare(findItem.compile().sql);
    this.#lastKey = connection.prepare(lastKey.compile().sql);
    this.#expired = connection.prepare(expired.compile().sql);
    entries.register(RESPONSE_ENTRY, { read: decodeEntry, write: (rows) => this.#bringIn(rows) });
  }

  async put(stored: StoredResponse, appendTo?: string): Promise<string> {
    const making = responseRow(stored);
    const isLarge = making instanceof Promise;
    const row = isLarge ? await making : making;
    if (!isLarge && appendTo === undefined && this.#append(row)) return row.response;
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
    if (isLarge) await othersRun();
    if (refusal) throw refusal;
    return row.response;
  }

  async find(projectId: string, id: string, nowMs: number): Promise<StoredResponse | null> {
    const found = this.#read(projectId, id, nowMs);
    if (found) return found;
    return (await this.#arrived()) ? this.#read(projectId, id, nowMs) : null;
  }

  async chain(projectId: string, id: string, nowMs: number): Promise<readonly StoredResponse[] | null> {
    const chain: StoredResponse[] = [];
    for (let next: string | null = id; next !== null;) {
      const response: StoredResponse | null = await this.find(projectId, next, nowMs);
      if (!response) return null;
      chain.push(response);
      next = response.previousId;
    }
    return chain.reverse();
  }

  async findItem(projectId: string, itemId: string, nowMs: number): Promise<JsonObject | null> {
    // The latest of this id is looked for.
    await this.#indexer.caughtUp();
    const found = this.#readItem(projectId, itemId, nowMs);
    if (found) return found;
    return (await this.#arrived()) ? this.#readItem(projectId, itemId, nowMs) : null;
  }

  #readItem(projectId: string, itemId: string, nowMs: number): JsonObject | null {
    const item = this.#conversations.findOfKey(projectId, itemId, nowMs);
    if (item) return item;
    const needle = JSON.stringify(itemId);
    const rows = this.#findItem.all(placeOf(itemId), projectId, nowMs, needle, needle, MENTIONS);
    return itemOf((rows as unknown as readonly FoundRow[]).map(decodeTexts), itemId);
  }

  async delete(projectId: string, id: string): Promise<boolean> {
    await this.#arrived();
    return this.#commits.run(() => {
      const head = this.#rows.headOf(projectId, id);
      if (!head) return false;
      this.#usage.removeResponse(head);
      this.#rows.noteDeleted(id, this.#now());
      return true;
    });
  }

  async purge(nowMs: number): Promise<number> {
    await this.#indexer.caughtUp();
    const forgetMs = nowMs - DELETED_KNOWN_MS;
    if (this.#rows.hasDeleted(forgetMs)) await this.#steps.run(() => this.#rows.forgetDeleted(forgetMs));
    for (;;) {
      const after = this.#purgedKey;
      const last = this.#lastKey.all(after, PURGE_KEYS)[0]?.['last'];
      if (typeof last !== 'string') {
        this.#purgedKey = '';
        return 0;
      }
      // Asked first: mostly there is nothing to do, and a transaction would wait for other processes.
      if (this.#expired.all(after, last, nowMs, 1).length > 0)
        return this.#steps.run(() => this.#purge(after, last, nowMs));
      this.#purgedKey = last;
      await othersRun();
    }
  }

  *#purge(after: string, last: string, nowMs: number): Generator<number> {
    for (const head of this.#expired.all(
      after,
      last,
      nowMs,
      PURGE_ROWS,
    ) as unknown as readonly ResponseHead[]) {
      this.#usage.removeResponse(head);
      yield 1;
    }
  }

  /**
   * Into the journal: durable when it returns.
   * @returns false when the journal takes nothing; the database may still
   * @throws GatewayError `quota` when things that stay leave no room for it
   */
  #append(row: ResponseRow): boolean {
    const refusal = this.#usage.refusalOf(row.projectId, row.bytes);
    if (refusal) throw refusal;
    try {
      this.#indexer.append(RESPONSE_ENTRY, encodeEntry(row));
    } catch (error) {
      if (GatewayError.is(error)) return false;
      throw error;
    }
    return true;
  }

  #bringIn(rows: readonly ArrivingRow[]): void {
    for (const [projectId, bytes] of this.#rows.insertNew(rows)) this.#usage.count(projectId, bytes);
  }

  /** Brings in what journals hold. @returns false when they held nothing: a read would find what it found before */
  async #arrived(): Promise<boolean> {
    const isWaiting = this.#indexer.waitingBytes > 0;
    await this.#indexer.caughtUp();
    return (await this.#indexer.caughtUpWithOthers()) || isWaiting;
  }

  #read(projectId: string, id: string, nowMs: number): StoredResponse | null {
    const row = this.#find.all(placeOf(id), projectId, id, nowMs, 1)[0] as FoundRow | undefined;
    return row ? decodeResponse(row) : null;
  }
}
