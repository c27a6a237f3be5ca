// Conversations in PostgreSQL: metadata, lifetime, and the one place for a turn, over all processes. A deleted conversation
// belongs to nobody at once and counts no more; the rows of a long one then go piece by piece.
import { type Kysely, sql } from 'kysely';
import type { JsonObject } from '../../canonical/index.ts';
import type { ConversationStore, ItemPage, PageRequest, StoredConversation } from '../ports.ts';
import { type ConversationRow, decodeConversation, decodeItem, encodeItems } from '../state/item-rows.ts';
import { NEVER, rowBytes } from '../state/sizes.ts';
import type { ConversationItems } from './conversation-items.ts';
import { noteDeleted } from './deletions.ts';
import type { LateTurns } from './late-turns.ts';
import type { PostgresStateUsage } from './state-usage.ts';
import type { PostgresBase, PostgresSchema, Tx } from './store.ts';

/** Rows deleted in one transaction. */
const PURGE_ROWS = 500;
/** Key id of deleted conversations. */
const NOBODY = '';

/** Unix milliseconds. */
const SERVER_MS = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
/** In which whoever holds a place says so to a server that was started again. */
const AFTER_START = '3 seconds';

const COLUMNS = ['row', 'id', 'key_id', 'created_at', 'expires_at', 'bytes', 'metadata'] as const;

export class PostgresConversations implements ConversationStore {
  readonly #db: Kysely<PostgresSchema>;
  readonly #transaction: PostgresBase['transaction'];
  readonly #usage: PostgresStateUsage;
  readonly #items: ConversationItems;
  readonly #turns: LateTurns;

  constructor({ db, transaction, usage, items, turns }: PostgresBase) {
    this.#db = db;
    this.#turns = turns;
    this.#transaction = transaction;
    this.#usage = usage;
    this.#items = items;
  }

  async create(conversation: StoredConversation, items: readonly JsonObject[]): Promise<void> {
    const { id, projectId, createdAt, expiresAt } = conversation;
    const metadata = JSON.stringify(conversation.metadata);
    const rows = encodeItems(items);
    const own = rowBytes(metadata);
    await this.#transaction(async (tx) => {
      const made = await tx
        .insertInto('conversations')
        .values({
          id,
          key_id: projectId,
          created_at: createdAt,
          expires_at: expiresAt ?? NEVER,
          bytes: own,
          metadata,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('row')
        .executeTakeFirst();
      if (!made) return;
      const written = await this.#items.write(tx, made.row, projectId, rows);
      await this.#usage.claim(tx, projectId, 0, own + written);
    });
  }

  async find(projectId: string, id: string, nowMs: number): Promise<StoredConversation | null> {
    const row = await this.#alive(projectId, id, nowMs);
    return row ? decodeConversation(row) : null;
  }

  setMetadata(
    projectId: string,
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<StoredConversation | null> {
    const text = JSON.stringify(metadata);
    return this.#transaction(async (tx) => {
      const row = await this.#hold(tx, projectId, id);
      if (!row) return null;
      const growth = rowBytes(text) - rowBytes(row.metadata);
      await this.#usage.change(tx, projectId, growth);
      await tx
        .updateTable('conversations')
        .set({ metadata: text, bytes: row.bytes + growth })
        .where('row', '=', row.row)
        .execute();
      return { ...decodeConversation(row), metadata };
    });
  }

  delete(projectId: string, id: string): Promise<boolean> {
    return this.#transaction(async (tx) => {
      const row = await this.#hold(tx, projectId, id);
      if (row) await this.#remove(tx, row, PURGE_ROWS);
      return row !== undefined;
    });
  }

  append(projectId: string, id: string, items: readonly JsonObject[]): Promise<boolean> {
    const rows = encodeItems(items);
    return this.#transaction(async (tx) => {
      const conversation = await this.#items.hold(tx, projectId, id);
      if (conversation === undefined) return false;
      const written = await this.#items.write(tx, conversation, projectId, rows);
      if (written > 0) await this.#usage.claim(tx, projectId, 0, written);
      return true;
    });
  }

  appendTurn(projectId: string, id: string, items: readonly JsonObject[]): Promise<void> {
    return this.#turns.keep({ projectId, response: null, appendTo: id, items: encodeItems(items) });
  }

  async items(projectId: string, id: string, page: PageRequest): Promise<ItemPage | null> {
    await this.#turns.arrived();
    const row = await this.#row(projectId, id);
    return row ? this.#items.page(row.row, projectId, page) : null;
  }

  async all(projectId: string, id: string, nowMs: number): Promise<readonly JsonObject[] | null> {
    await this.#turns.arrived();
    // One question: a row at least where the conversation is there.
    const rows = await this.#db
      .selectFrom('conversations as c')
      .leftJoin('conversation_items as i', 'i.conversation_row', 'c.row')
      .select('i.item')
      .where('c.id', '=', id)
      .where('c.key_id', '=', projectId)
      .where('c.expires_at', '>', nowMs)
      .orderBy('i.row')
      .execute();
    if (rows.length === 0) return null;
    return rows.flatMap(({ item }) => (item === null ? [] : [decodeItem({ item })]));
  }

  async findItem(projectId: string, id: string, itemId: string): Promise<JsonObject | null> {
    const row = await this.#row(projectId, id);
    return row ? this.#items.find(row.row, projectId, itemId) : null;
  }

  deleteItem(projectId: string, id: string, itemId: string): Promise<boolean> {
    return this.#transaction(async (tx) => {
      const conversation = await this.#items.hold(tx, projectId, id);
      if (conversation === undefined) return false;
      const isRemoved = await this.#items.remove(tx, conversation, projectId, itemId);
      if (isRemoved) await noteDeleted(tx, id, itemId);
      return isRemoved;
    });
  }

  async beginTurn(
    projectId: string,
    id: string,
    turnId: string,
    nowMs: number,
    forMs: number,
  ): Promise<boolean> {
    // By the server's clock: those of processes differ. Of several that ask at once, each sees what the one before it has written.
    const { numUpdatedRows } = await this.#db
      .updateTable('conversations')
      .set({ turn_id: turnId, turn_until: sql`${SERVER_MS} + ${forMs}` })
      .where('id', '=', id)
      .where('key_id', '=', projectId)
      .where('expires_at', '>', nowMs)
      .where((eb) =>
        eb.or([
          eb('turn_id', 'is', null),
          eb('turn_id', '=', turnId),
          // While the server was away, nobody could hold a place for longer.
          eb.and([
            eb('turn_until', '<=', SERVER_MS),
            sql<boolean>`pg_postmaster_start_time() < clock_timestamp() - ${AFTER_START}::interval`,
          ]),
        ]),
      )
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async endTurn(projectId: string, id: string, turnId: string): Promise<void> {
    // Nobody may begin the next one while what this one has said is in a journal alone.
    await this.#turns.arrived();
    await this.#db
      .updateTable('conversations')
      .set({ turn_id: sql`null`, turn_until: sql`null` })
      .where('id', '=', id)
      .where('key_id', '=', projectId)
      .where('turn_id', '=', turnId)
      .execute();
  }

  async purge(nowMs: number): Promise<number> {
    return this.#transaction(async (tx) => {
      const [row] = await tx
        .selectFrom('conversations')
        .select(COLUMNS)
        .where('expires_at', '<=', nowMs)
        .orderBy('expires_at')
        .orderBy('row')
        .limit(1)
        .forUpdate()
        .skipLocked()
        .execute();
      return row ? this.#remove(tx, row, PURGE_ROWS) : 0;
    });
  }

  /** Takes the conversation from its project, and deletes at most `limit` rows of it. Returns how many. */
  async #remove(tx: Tx, row: ConversationRow, limit: number): Promise<number> {
    if (row.key_id !== NOBODY) {
      await tx
        .updateTable('conversations')
        .set({ key_id: NOBODY, expires_at: 0 })
        .where('row', '=', row.row)
        .execute();
      await this.#usage.release(tx, row.key_id, 0, row.bytes);
    }
    const items = await this.#items.clear(tx, row.row, limit);
    if (items === limit) return items;
    await tx.deleteFrom('conversations').where('row', '=', row.row).execute();
    return items + 1;
  }

  #hold(tx: Tx, projectId: string, id: string): Promise<ConversationRow | undefined> {
    return tx
      .selectFrom('conversations')
      .select(COLUMNS)
      .where('id', '=', id)
      .where('key_id', '=', projectId)
      .forUpdate()
      .executeTakeFirst();
  }

  #row(projectId: string, id: string): Promise<ConversationRow | undefined> {
    return this.#db
      .selectFrom('conversations')
      .select(COLUMNS)
      .where('id', '=', id)
      .where('key_id', '=', projectId)
      .executeTakeFirst();
  }

  async #alive(projectId: string, id: string, nowMs: number): Promise<ConversationRow | undefined> {
    const row = await this.#row(projectId, id);
    return row && row.expires_at > nowMs ? row : undefined;
  }
}
