// Cache of parsed JSON columns, because 100,000 keys have only a few different lists of limits and models.

/** Maximum number of cached texts. The cache is cleared when it is full. */
const MOST_TEXTS = 2_000;

export class SharedJson {
  readonly #values = new Map<string, unknown>();

  /** Parses a text. Returns the same object for the same text, which must not be changed. */
  parse(text: string): unknown {
    let value = this.#values.get(text);
    if (value === undefined) {
      value = JSON.parse(text) as unknown;
      if (this.#values.size >= MOST_TEXTS) this.#values.clear();
      this.#values.set(text, value);
    }
    return value;
  }
}
