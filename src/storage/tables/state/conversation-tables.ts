// Tables of conversations and their items. Rows are encoded before a transaction, so that encoding cannot fail within it.
import { asString, type JsonObject } from '../../../base/json/index.ts';
import type { StoredConversation } from '../../../accounts/ports/index.ts';
import { NEVER, rowBytes } from '../sizes.ts';
import { type RowIn, table } from '../table.ts';

export const CONVERSATIONS = table({
  name: 'conversations',
  columns: {
    row: 'row',
    id: 'id',
    /** Project; empty once deleted. Deleted conversations are not found, and their items are removed in steps. */
    key_id: 'id',
    created_at: 'number',
    expires_at: 'number',
    /** Size with its items. */
    bytes: 'number',
    /** Running turn, and until when its lock is valid. */
    turn_id: 'id?',
    turn_until: 'number?',
    metadata: 'text',
  },
  key: ['row'],
  unique: [['id']],
  indexes: { conversations_by_expiry: ['expires_at', 'row'] },
});

/** Items in order of `row`, which increases with each insert. Ids are unique. */
export const CONVERSATION_ITEMS = table({
  name: 'conversation_items',
  columns: {
    row: 'row',
    conversation_row: 'number',
    key_id: 'id',
    item_id: 'id?',
    bytes: 'number',
    item: 'text',
  },
  key: ['row'],
  unique: [['key_id', 'item_id', 'conversation_row']],
  indexes: { conversation_items_in_order: ['conversation_row', 'row'] },
});

/** An item as bound values. */
export interface ItemRow {
  readonly id: string | null;
  readonly bytes: number;
  readonly text: string;
}

/** Encodes items before the transaction, so that encoding cannot fail within it. */
export function encodeItems(items: readonly JsonObject[]): readonly ItemRow[] {
  return items.map((item) => {
    const text = JSON.stringify(item);
    return { id: asString(item['id']) ?? null, bytes: rowBytes(text), text };
  });
}

/** Decodes an item. */
export function decodeItem(row: { readonly item?: unknown }): JsonObject {
  return JSON.parse(row.item as string) as JsonObject;
}

/** Columns that are read from a conversation. */
export const CONVERSATION_COLUMNS = [
  'row',
  'id',
  'key_id',
  'created_at',
  'expires_at',
  'bytes',
  'metadata',
] as const;
export type ConversationRow = Pick<RowIn<typeof CONVERSATIONS>, (typeof CONVERSATION_COLUMNS)[number]>;

export function decodeConversation(row: ConversationRow): StoredConversation {
  return {
    id: row.id,
    projectId: row.key_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at === NEVER ? null : row.expires_at,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
  };
}
