// Cache of compiled grammars and schemas: clients send the same few every time. Bounded by the size of its entries,
// so that no client can fill the memory with large ones. Knows nothing of what it holds.

/** Together, in states of a machine: a state takes 100 to 600 bytes. */
const MOST_WEIGHT = 100_000;
/** The smallest ones have texts and surroundings as well. */
const MOST_ENTRIES = 64;

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
}

export class CompiledCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  #weight = 0;

  get(text: string): Value | undefined {
    const entry = this.#entries.get(text);
    if (!entry) return undefined;
    // A Map iterates in the order of insertion: what was used last goes last.
    this.#entries.delete(text);
    this.#entries.set(text, entry);
    return entry.value;
  }

  /**
   * Keeps a value that is not there yet; what was used longest ago goes.
   * @param weight in states of a machine
   */
  set(text: string, value: Value, weight: number): void {
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size < MOST_ENTRIES && this.#weight + weight <= MOST_WEIGHT) break;
      this.#entries.delete(oldest);
      this.#weight -= entry.weight;
    }
    this.#entries.set(text, { value, weight });
    this.#weight += weight;
  }
}
