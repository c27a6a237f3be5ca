// Conversations and their items as rows: made before a transaction, so that nothing in it can fail.
import { asString, type JsonObject } from '../../base/json/index.ts';
import type { StoredConversation } from '../../accounts/ports/index.ts';
import { NEVER, rowBytes } from './sizes.ts';
import { table } from './table.ts';

export const CONVERSATIONS = table({
  name: 'conversations',
  columns: {
    row: 'row',
    id: 'id',
    /** Empty once it was deleted: from then on nobody finds it, and its items go piece by piece. */
    key_id: 'id',
    created_at: 'number',
    expires_at: 'number',
    /** Itself and its items. */
    bytes: 'number',
    /** The turn that runs on it, and until when it is believed to. */
    turn_id: 'id?',
    turn_until: 'number?',
    metadata: 'text',
  },
  key: ['row'],
  unique: [['id']],
  indexes: { conversations_by_expiry: ['expires_at', 'row'] },
});

/** Items in the order of `row`, which grows with every insert; an id is there once. */
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

/** An item as it is bound. */
export interface ItemRow {
  readonly id: string | null;
  readonly bytes: number;
  readonly text: string;
}

/** Items ready to be written: made before the transaction, so that nothing in it can fail. */
export function encodeItems(items: readonly JsonObject[]): readonly ItemRow[] {
  return items.map((item) => {
    const text = JSON.stringify(item);
    return { id: asString(item['id']) ?? null, bytes: rowBytes(text), text };
  });
}

/** The item of a row. */
export function decodeItem(row: { readonly item?: unknown }): JsonObject {
  return JSON.parse(row.item as string) as JsonObject;
}

/** Columns that are read of a conversation. */
export interface ConversationRow {
  readonly row: number;
  readonly id: string;
  readonly key_id: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly bytes: number;
  readonly metadata: string;
}
export const CONVERSATION_COLUMNS = [
  'row',
  'id',
  'key_id',
  'created_at',
  'expires_at',
  'bytes',
  'metadata',
] as const;

export function decodeConversation(row: ConversationRow): StoredConversation {
  return {
    id: row.id,
    projectId: row.key_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at === NEVER ? null : row.expires_at,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
  };
}
