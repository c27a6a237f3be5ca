// Conversations and their items as rows: made before a transaction, so that nothing in it can fail.
import { asString, type JsonObject } from '../../canonical/index.ts';
import type { StoredConversation } from '../ports.ts';
import { NEVER, rowBytes } from './sizes.ts';
import type { ConversationTable } from './tables.ts';

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

/** What the items count for in the usage of their key. */
export function bytesOf(items: readonly ItemRow[]): number {
  return items.reduce((sum, item) => sum + item.bytes, 0);
}

/** The item of a row. */
export function decodeItem(row: { readonly item?: unknown }): JsonObject {
  return JSON.parse(row.item as string) as JsonObject;
}

/** What is read of a conversation. */
export type ConversationRow = Pick<
  ConversationTable,
  'id' | 'key_id' | 'created_at' | 'expires_at' | 'bytes' | 'metadata'
> & { readonly row: number };

export function decodeConversation(row: ConversationRow): StoredConversation {
  return {
    id: row.id,
    projectId: row.key_id,
    createdAt: row.created_at,
    expiresAt: row.expires_at === NEVER ? null : row.expires_at,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
  };
}
