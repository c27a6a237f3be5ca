// Ids for input items without one, so that they can be listed and referenced. They are never sent upstream: the item
// had no id in its own turn, and prompt caches require the same beginning in every turn.
import type { JsonObject } from '../../../base/json/index.ts';

/** Suffix of a created id: its generation and the item's index. */
const MADE = /_[0-9a-f]{32}_i\d+$/;

/** @param prefix id prefix of the item's type, including `_` */
export function madeId(prefix: string, generationId: string, place: number): string {
  return `${prefix}${generationId}_i${place}`;
}

/** Returns the item as the client sent it; the same object if the id is the client's or an upstream's. */
export function withoutMadeId(item: JsonObject): JsonObject {
  const { id, ...rest } = item;
  return typeof id === 'string' && MADE.test(id) ? rest : item;
}
