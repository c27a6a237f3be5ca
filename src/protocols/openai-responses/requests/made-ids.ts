// Ids of input items that their client did not name: made here, so that the item can be listed and referred to. No
// upstream gets one: in the item's own turn it had none, and prompt caches need the same beginning in every turn.
import type { JsonObject } from '../../../base/json/index.ts';

/** How an id ends that names its generation and the item's place. */
const MADE = /_[0-9a-f]{32}_i\d+$/;

/** @param prefix how ids of the item's type begin, with `_` at its end */
export function madeId(prefix: string, generationId: string, place: number): string {
  return `${prefix}${generationId}_i${place}`;
}

/** The item as its client said it: the same object where the id is the client's, or an upstream's. */
export function withoutMadeId(item: JsonObject): JsonObject {
  const { id, ...rest } = item;
  return typeof id === 'string' && MADE.test(id) ? rest : item;
}
