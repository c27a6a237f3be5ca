// Conversations: metadata, expiry, items, and the lock for a running turn, across all processes. A deleted conversation
// disappears and stops counting immediately. Its rows are then removed in small steps, so that nothing waits for them.
import { sql } from 'kysely';
import type { ConversationStore } from '../../../accounts/ports/index.ts';
import {
  CONVERSATION_COLUMNS,
  CONVERSATION_ITEMS,
  type ConversationRow,
  CONVERSATIONS,
  decodeConversation,
  decodeItem,
  encodeItems,
} from './conversation-tables.ts';
import { firstOf, type Queries, type StateDatabase, type Store } from '../database.ts';
import { pageAfter } from '../pages.ts';
import { expirer } from '../purge.ts';
import { NEVER, rowBytes } from '../sizes.ts';
import { statement } from '../statement.ts';
import type { DurationMs, UnixMs } from '../../../base/units.ts';

/** Project of deleted conversations. */
const DELETED_PROJECT = '';

export const conversations: Store<ConversationStore> = {
  tables: [CONVERSATIONS, CONVERSATION_ITEMS],
  open: openConversations,
};

function openConversations(database: StateDatabase): ConversationStore {
  const { on, dialect, kind, transact, write, ask, read, readFirst, sweep, usage, turns } = database;
  const db = on(CONVERSATIONS, CONVERSATION_ITEMS);
  const find = statement((v: { projectId: string; id: string }) =>
    db
      .selectFrom('conversations')
      .select(CONVERSATION_COLUMNS)
      .where('id', '=', v.id)
      .where('key_id', '=', v.projectId),
  );
  // Returns at least one row if the conversation exists.
  const all = statement((v: { projectId: string; id: string; nowMs: UnixMs }) =>
    db
      .selectFrom('conversations as c')
      .leftJoin('conversation_items as i', 'i.conversation_row', 'c.row')
      .select('i.item')
      .where('c.id', '=', v.id)
      .where('c.key_id', '=', v.projectId)
      .where('c.expires_at', '>', v.nowMs)
      .orderBy('i.row'),
  );
  const itemOf = statement((v: { projectId: string; itemId: string; conversation: number }) =>
    db
      .selectFrom('conversation_items')
      .selectAll()
      .where('key_id', '=', v.projectId)
      .where('item_id', '=', v.itemId)
      .where('conversation_row', '=', v.conversation),
  );
  const place = statement(
    (v: { projectId: string; id: string; turnId: string; nowMs: UnixMs; forMs: DurationMs }) => {
      const now = dialect.nowMs(v.nowMs);
      return db
        .updateTable('conversations')
        .set({ turn_id: v.turnId, turn_until: sql`${now} + ${v.forMs}` })
        .where('id', '=', v.id)
        .where('key_id', '=', v.projectId)
        .where('expires_at', '>', v.nowMs)
        .where((eb) =>
          eb.or([
            eb('turn_id', 'is', null),
            eb('turn_id', '=', v.turnId),
            eb.and([eb('turn_until', '<=', now), isAwake]),
          ]),
        )
        .returning('row');
    },
  );
  // After a start of the server, lock holders have three seconds to renew, because they could not renew while it was down.
  const isAwake =
    kind === 'postgres'
      ? sql<boolean>`pg_postmaster_start_time() < clock_timestamp() - interval '3 seconds'`
      : sql<boolean>`1 = 1`;
  const release = statement((v: { projectId: string; id: string; turnId: string }) =>
    db
      .updateTable('conversations')
      .set({ turn_id: sql`null`, turn_until: sql`null` })
      .where('id', '=', v.id)
      .where('key_id', '=', v.projectId)
      .where('turn_id', '=', v.turnId),
  );

  /** Removes a locked conversation from its project. */
  function* detach({ row, key_id: projectId, bytes }: ConversationRow): Queries<void> {
    yield db
      .updateTable('conversations')
      .set({ key_id: DELETED_PROJECT, expires_at: 0 })
      .where('row', '=', row);
    yield* usage.release(projectId, 0, bytes);
  }
  const detachExpired = expirer<ConversationRow>(
    database,
    CONVERSATIONS,
    CONVERSATION_COLUMNS,
    function* (rows) {
      // Fixed order, to avoid deadlocks between processes.
      for (const row of rows.toSorted((a, b) => (a.key_id < b.key_id ? -1 : 1))) yield* detach(row);
    },
    sql`key_id <> ${sql.lit(DELETED_PROJECT)}`,
  );
  /** Deletes rows of deleted conversations, items first. */
  const clear = async (): Promise<number> => {
    const deletedRows = db
      .selectFrom('conversations as c')
      .where('c.expires_at', '=', 0)
      .where('c.key_id', '=', DELETED_PROJECT);
    const items = await sweep(
      (limit) =>
        deletedRows
          .innerJoin('conversation_items as i', 'i.conversation_row', 'c.row')
          .select('i.row')
          .limit(limit),
      function* (rows) {
        yield db.deleteFrom('conversation_items').where(amongRows(rows));
      },
    );
    if (items.length > 0) return items.length;
    const rows = await sweep(
      (limit) => dialect.heldFree(deletedRows.select('c.row').limit(limit)),
      function* (rows) {
        yield db.deleteFrom('conversations').where(amongRows(rows));
      },
    );
    return rows.length;
  };
  const amongRows = (rows: readonly { readonly row: number }[]) =>
    dialect.among(
      'row',
      rows.map(({ row }) => row),
    );
  const findRow = (projectId: string, id: string): Promise<ConversationRow | undefined> =>
    readFirst(find({ projectId, id }));

  return {
    create(conversation, items) {
      const { id, projectId, createdAt, expiresAt } = conversation;
      const metadata = JSON.stringify(conversation.metadata);
      const rows = encodeItems(items);
      const own = rowBytes(metadata);
      return transact(function* () {
        const made = yield* firstOf(
          db
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
            .returning('row'),
        );
        if (!made) return;
        const written = yield* turns.append(made.row, projectId, rows);
        yield* usage.claim(projectId, 0, own + written);
      });
    },
    async find(projectId, id, nowMs) {
      const row = await findRow(projectId, id);
      return row && row.expires_at > nowMs ? decodeConversation(row) : null;
    },
    setMetadata(projectId, id, metadata) {
      const text = JSON.stringify(metadata);
      return transact(function* () {
        const row = yield* turns.hold(projectId, id);
        if (!row) return null;
        const growth = rowBytes(text) - rowBytes(row.metadata);
        yield* usage.change(projectId, growth);
        yield db
          .updateTable('conversations')
          .set({ metadata: text, bytes: row.bytes + growth })
          .where('row', '=', row.row);
        return { ...decodeConversation(row), metadata };
      });
    },
    async delete(projectId, id) {
      const isThere = await transact(function* () {
        const row = yield* turns.hold(projectId, id);
        if (row) yield* detach(row);
        return row !== undefined;
      });
      if (isThere && (await clear()) > 0) await clear();
      return isThere;
    },
    append(projectId, id, items) {
      const rows = encodeItems(items);
      return transact(function* () {
        const conversation = yield* turns.hold(projectId, id);
        if (!conversation) return false;
        const written = yield* turns.append(conversation.row, projectId, rows);
        if (written > 0) yield* usage.claim(projectId, 0, written);
        return true;
      });
    },
    appendTurn: (projectId, id, items) =>
      turns.keep(
        { projectId, response: null, appendTo: id, items: encodeItems(items), isByJob: false },
        false,
      ),
    async items(projectId, id, page) {
      await turns.arrived();
      const row = await findRow(projectId, id);
      if (!row) return null;
      const query = db
        .selectFrom('conversation_items')
        .select('item')
        .where('conversation_row', '=', row.row);
      const find = (itemId: string) => firstOf(itemOf({ projectId, itemId, conversation: row.row }));
      const { rows, hasMore } = await ask(() => pageAfter(query, page, 'item', find));
      return { items: rows.map(decodeItem), hasMore };
    },
    async all(projectId, id, nowMs) {
      await turns.arrived();
      const rows = await read(all({ projectId, id, nowMs }));
      if (rows.length === 0) return null;
      return rows.flatMap(({ item }) => (item === null ? [] : [decodeItem({ item })]));
    },
    async findItem(projectId, id, itemId) {
      const row = await findRow(projectId, id);
      if (!row) return null;
      const found = await readFirst(itemOf({ projectId, itemId, conversation: row.row }));
      return found ? decodeItem(found) : null;
    },
    deleteItem: (projectId, id, itemId) =>
      transact(function* () {
        const conversation = yield* turns.hold(projectId, id);
        if (!conversation) return false;
        const found = yield* firstOf(itemOf({ projectId, itemId, conversation: conversation.row }));
        if (!found) return false;
        yield db.deleteFrom('conversation_items').where('row', '=', found.row);
        yield* turns.grow(conversation.row, -found.bytes);
        yield* usage.release(projectId, 0, found.bytes);
        yield* turns.noteDeleted(id, itemId);
        return true;
      }),
    async beginTurn(projectId, id, turnId, nowMs, forMs) {
      // Concurrent calls run one after another, so that each sees the write of the one before.
      const held = await write(place({ projectId, id, turnId, nowMs, forMs }));
      return held.length > 0;
    },
    async endTurn(projectId, id, turnId) {
      // The next turn must not begin before the items of this one are in the database.
      await turns.arrived();
      await write(release({ projectId, id, turnId }));
    },
    async purge(nowMs) {
      return (await detachExpired(nowMs)).length + (await clear());
    },
  };
}
