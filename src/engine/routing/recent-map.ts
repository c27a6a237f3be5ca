// A map of bounded size that forgets what was set longest ago. Knows nothing of what it holds.

export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #limit: number;
  readonly #mayGo: (value: Value, key: string) => boolean;

  /**
   * @param limit most entries, besides those that may not go
   * @param mayGo whether an entry may be forgotten now
   */
  constructor(limit: number, mayGo: (value: Value, key: string) => boolean = () => true) {
    this.#limit = limit;
    this.#mayGo = mayGo;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  /** Keys of all entries, the least recently set first. */
  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Sets the entry, which becomes the most recent one, and makes room for it if need be. */
  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#makeRoom();
    this.#entries.set(key, value);
  }

  #makeRoom(): void {
    let unseen = this.#entries.size;
    if (unseen < this.#limit) return;
    // A Map iterates in the order of insertion, from the oldest on; what may not go is put at the end again.
    for (const [key, value] of this.#entries) {
      if (unseen === 0 || this.#entries.size < this.#limit) return;
      unseen -= 1;
      this.#entries.delete(key);
      if (!this.#mayGo(value, key)) this.#entries.set(key, value);
    }
  }
}
