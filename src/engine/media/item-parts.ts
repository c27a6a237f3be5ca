// The parts of an item, read and changed in order. Knows nothing of what they hold.
import type { Item, Part } from '../../canonical/index.ts';

/** The parts in which clients put media. */
export function partsOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'tool_result' ? item.parts : [];
}

/** The item with its parts changed one after the other: what is too much is noticed before the next is read. */
export async function withParts(
  item: Item,
  change: (part: Part) => Promise<Part | readonly Part[]>,
): Promise<Item> {
  if (item.type !== 'message' && item.type !== 'tool_result') return item;
  // The raw form of the item still holds the address.
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
