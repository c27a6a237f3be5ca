// Conversations in SQLite: metadata, lifetime, and the one place for a turn. A deleted conversation belongs to
// nobody at once and counts no more; the rows of a long one then go piece by piece, so that nothing waits for them.
import { sql } from 'kysely';
import type { JsonObject } from '../../canonical/index.ts';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import { bytesOf, type ConversationRow, decodeConversation, encodeItems } from '../state/item-rows.ts';
import { NEVER, rowBytes } from '../state/sizes.ts';
import type { ConversationItems } from './conversation-items.ts';
import type { GroupCommit } from './group-commit.ts';
import type { ConversationStore, ItemPage, PageRequest, StoredConversation } from '../ports.ts';
import type { ShortSteps } from './short-steps.ts';
import type { SqliteBase } from './store.ts';
import type { SqliteStateUsage } from './state-usage.ts';

/** Expired conversations that are looked for together. */
const PURGE_ROWS = 20;
/** Key id of deleted conversations. */
const NOBODY = '';

export class SqliteConversations implements ConversationStore {
  readonly #commits: GroupCommit;
  readonly #steps: ShortSteps;
  readonly #usage: SqliteStateUsage;
  readonly #items: ConversationItems;
  /** Binds id, key id, created, expires, bytes, metadata. */
  readonly #insert: SqlStatement;
  /** Binds id, key id. */
  readonly #find: SqlStatement;
  /** Binds id, key id, now. */
  readonly #findAlive: SqlStatement;
  /** Binds metadata, bytes to add, row. */
  readonly #setMetadata: SqlStatement;
  /** Binds the new key id, the new expiry, row. */
  readonly #disown: SqlStatement;
  /** Binds row. */
  readonly #delete: SqlStatement;
  /** Binds now, 1. */
  readonly #expired: SqlStatement;
  /** Binds turn id, until, id, key id, now (expiry), turn id, now (end of the other turn). */
  readonly #beginTurn: SqlStatement;
  /** Binds id, key id, turn id. */
  readonly #endTurn: SqlStatement;

  constructor({ connection, db, commits, steps, usage, items }: SqliteBase) {
    this.#commits = commits;
    this.#steps = steps;
    this.#usage = usage;
    this.#items = items;
    const insert = db
      .insertInto('conversations')
      .values({ id: '', key_id: '', created_at: 0, expires_at: 0, bytes: 0, metadata: '' })
      .onConflict((conflict) => conflict.column('id').doNothing());
    const select = db
      .selectFrom('conversations')
      .select(['row', 'id', 'key_id', 'created_at', 'expires_at', 'bytes', 'metadata']);
    const find = select.where('id', '=', '').where('key_id', '=', '');
    const expired = select.where('expires_at', '<=', 0).orderBy('expires_at').limit(1);
    const setMetadata = db
      .updateTable('conversations')
      .set((eb) => ({ metadata: '', bytes: eb('bytes', '+', 0) }))
      .where('row', '=', 0);
    const disown = db.updateTable('conversations').set({ key_id: '', expires_at: 0 }).where('row', '=', 0);
    const deletion = db.deleteFrom('conversations').where('row', '=', 0);
    const beginTurn = db
      .updateTable('conversations')
      .set({ turn_id: '', turn_until: 0 })
      .where('id', '=', '')
      .where('key_id', '=', '')
      .where('expires_at', '>', 0)
      .where((eb) => eb.or([eb('turn_id', 'is', null), eb('turn_id', '=', ''), eb('turn_until', '<=', 0)]));
    const endTurn = db
      .updateTable('conversations')
      .set({ turn_id: sql`null`, turn_until: sql`null` })
      .where('id', '=', '')
      .where('key_id', '=', '')
      .where('turn_id', '=', '');
    this.#insert = connection.prepare(insert.compile().sql);
    this.#find = connection.prepare(find.compile().sql);
    this.#findAlive = connection.prepare(find.where('expires_at', '>', 0).compile().sql);
    this.#setMetadata = connection.prepare(setMetadata.compile().sql);
    this.#disown = connection.prepare(disown.compile().sql);
    this.#delete = connection.prepare(deletion.compile().sql);
    this.#expired = connection.prepare(expired.compile().sql);
    this.#beginTurn = connection.prepare(beginTurn.compile().sql);
    this.#endTurn = connection.prepare(endTurn.compile().sql);
  }

  async create(conversation: StoredConversation, items: readonly JsonObject[]): Promise<void> {
    const { id, projectId, createdAt, expiresAt } = conversation;
    const metadata = JSON.stringify(conversation.metadata);
    const rows = encodeItems(items);
    const own = rowBytes(metadata);
    const refusal = await this.#commits.run(() => {
      const refused = this.#usage.claim(projectId, 0, own + bytesOf(rows));
      if (refused) return refused;
      const inserted = this.#insert.run(id, projectId, createdAt, expiresAt ?? NEVER, own, metadata);
      if (inserted.changes > 0) this.#items.write(Number(inserted.lastInsertRowid), projectId, rows);
      else this.#usage.release(projectId, 0, own + bytesOf(rows));
      return null;
    });
    if (refusal) throw refusal;
  }

  async find(projectId: string, id: string, nowMs: number): Promise<StoredConversation | null> {
    const row = this.#alive(projectId, id, nowMs);
    return row ? decodeConversation(row) : null;
  }

  async setMetadata(
    projectId: string,
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<StoredConversation | null> {
    const text = JSON.stringify(metadata);
    const outcome = await this.#commits.run(() => {
      const row = this.#row(projectId, id);
      if (!row) return null;
      const growth = rowBytes(text) - rowBytes(row.metadata);
      const refused = this.#usage.change(projectId, growth);
      if (refused) return { refused };
      this.#setMetadata.run(text, growth, row.row);
      return { row };
    });
    if (outcome?.refused) throw outcome.refused;
    return outcome && { ...decodeConversation(outcome.row), metadata };
  }

  async delete(projectId: string, id: string): Promise<boolean> {
    let isThere = false;
    await this.#steps.run(() => {
      const row = this.#row(projectId, id);
      isThere = row !== undefined;
      return row ? this.#remove(row) : [];
    });
    return isThere;
  }

  async append(projectId: string, id: string, items: readonly JsonObject[]): Promise<boolean> {
    const rows = encodeItems(items);
    const outcome = await this.#commits.run(() => {
      const conversation = this.#items.rowOf(projectId, id);
      if (conversation === undefined) return false;
      const refused = this.#usage.claim(projectId, 0, bytesOf(rows));
      if (refused) return refused;
      this.#items.write(conversation, projectId, rows);
      return true;
    });
    if (typeof outcome !== 'boolean') throw outcome;
    return outcome;
  }

  async appendTurn(projectId: string, id: string, items: readonly JsonObject[]): Promise<void> {
    await this.append(projectId, id, items);
  }

  async items(projectId: string, id: string, page: PageRequest): Promise<ItemPage | null> {
    const conversation = this.#items.rowOf(projectId, id);
    return conversation === undefined ? null : this.#items.page(conversation, projectId, page);
  }

  async all(projectId: string, id: string, nowMs: number): Promise<readonly JsonObject[] | null> {
    const row = this.#alive(projectId, id, nowMs);
    return row ? this.#items.all(row.row) : null;
  }

  async findItem(projectId: string, id: string, itemId: string): Promise<JsonObject | null> {
    const conversation = this.#items.rowOf(projectId, id);
    return conversation === undefined ? null : this.#items.find(conversation, projectId, itemId);
  }

  async deleteItem(projectId: string, id: string, itemId: string): Promise<boolean> {
    return this.#commits.run(() => {
      const conversation = this.#items.rowOf(projectId, id);
      return conversation !== undefined && this.#items.remove(conversation, projectId, itemId);
    });
  }

  async beginTurn(
    projectId: string,
    id: string,
    turnId: string,
    nowMs: number,
    forMs: number,
  ): Promise<boolean> {
    return this.#commits.run(
      () => this.#beginTurn.run(turnId, nowMs + forMs, id, projectId, nowMs, turnId, nowMs).changes > 0,
    );
  }

  async endTurn(projectId: string, id: string, turnId: string): Promise<void> {
    await this.#commits.add(() => void this.#endTurn.run(id, projectId, turnId));
  }

  async purge(nowMs: number): Promise<number> {
    // Asked first: mostly there is nothing to do, and a transaction would wait for other processes.
    if (this.#expired.all(nowMs, 1).length === 0) return 0;
    return this.#steps.run(() => this.#purge(nowMs));
  }

  *#purge(nowMs: number): Generator<number> {
    for (const row of this.#expired.all(nowMs, PURGE_ROWS) as unknown as readonly ConversationRow[])
      yield* this.#remove(row);
  }

  /** Takes the conversation from its key at once, and deletes its rows as far as they are asked for. */
  *#remove(row: ConversationRow): Generator<number> {
    if (row.key_id !== NOBODY) {
      this.#disown.run(NOBODY, 0, row.row);
      this.#usage.release(row.key_id, 0, row.bytes);
    }
    yield* this.#items.clear(row.row);
    this.#delete.run(row.row);
    yield 1;
  }

  #row(projectId: string, id: string): ConversationRow | undefined {
    return this.#find.all(id, projectId)[0] as ConversationRow | undefined;
  }

  #alive(projectId: string, id: string, nowMs: number): ConversationRow | undefined {
    return this.#findAlive.all(id, projectId, nowMs)[0] as ConversationRow | undefined;
  }
}
