// Reads and changes the parts of an item in order.
import type { Item, Part } from '../../canonical/index.ts';

/** Parts of the items in which clients send media. */
export function partsOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'tool_result' ? item.parts : [];
}

/** Changes an item's parts one after the other, so that an exceeded limit is detected before the next is read. */
export async function withParts(
  item: Item,
  change: (part: Part) => Promise<Part | readonly Part[]>,
): Promise<Item> {
  if (item.type !== 'message' && item.type !== 'tool_result') return item;
  // The raw form of the item still contains the address.
  return { ...item, parts: (await inOrder(item.parts, change)).flat(), source: undefined };
}

/** Maps entries one after the other. */
export async function inOrder<T, R>(
  list: readonly T[],
  change: (entry: T) => Promise<R>,
): Promise<readonly R[]> {
  const changed: R[] = [];
  for (const entry of list) changed.push(await change(entry));
  return changed;
}
