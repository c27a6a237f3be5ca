// A set of objects that are added and removed very often. A `Set` would leak until the next full collection: when it
// grows or is cleaned up, the old table keeps a pointer to the new one, for running iterators (JavaScriptCore,
// runtime/OrderedHashTable.h). Old tables that survived one young collection are not examined by the following ones, and
// keep everything alive that they point to.
//
// Gain: 12 to 25 % less CPU, 162 instead of 220 MB (25 rounds of `npm run bench:compare`, Bun 1.4.5, 2026-11-23). Without it: the same
// results. To remove: replace it by `Set`. Try without it if `test/socket/server/collections.test.ts` passes with a `Set`.

/** An unordered collection. Items may be added and removed during an iteration. */
export class Roster<Item extends object> implements Iterable<Item> {
  readonly #items: (Item | undefined)[] = [];
  /** Unused places before the end. */
  readonly #free: number[] = [];
  #size = 0;

  /** Number of items. */
  get size(): number {
    return this.#size;
  }

  /** @returns the place of the item, which `remove` needs */
  add(item: Item): number {
    const place = this.#free.pop() ?? this.#items.length;
    this.#items[place] = item;
    this.#size += 1;
    return place;
  }

  /** Removes an item. Does nothing if it was removed before. */
  remove(item: Item, place: number): void {
    if (this.#items[place] !== item) return;
    this.#size -= 1;
    if (this.#size > 0) {
      this.#items[place] = undefined;
      this.#free.push(place);
    } else {
      this.#items.length = 0;
      this.#free.length = 0;
    }
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (const item of this.#items) if (item) yield item;
  }
}
