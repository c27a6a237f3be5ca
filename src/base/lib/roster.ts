// Roster of members that come and go in numbers. A `Set` would do, but for the runtime's collector: each table that a `Set` or a
// `Map` has outgrown or cleaned up keeps pointing to the one that came after it, for iterators that are under way
// (JavaScriptCore, runtime/OrderedHashTable.h). A table that has lived through one quick collection is not looked at by the
// next ones, nor what it points to: so one of which things are removed all the time keeps them all, until a full collection.

/** A list without order. What is on it may leave, and others may come, while it is gone through. */
export class Roster<Item extends object> implements Iterable<Item> {
  readonly #items: (Item | undefined)[] = [];
  /** Places before the end at which nobody is. */
  readonly #free: number[] = [];
  #size = 0;

  /** How many are there. */
  get size(): number {
    return this.#size;
  }

  /** @returns its place, which `remove` asks for */
  add(item: Item): number {
    const place = this.#free.pop() ?? this.#items.length;
    this.#items[place] = item;
    this.#size += 1;
    return place;
  }

  /** Does nothing where the item has left that place before. */
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
