// JSON that many rows hold alike, parsed once: a hundred thousand keys have a few lists of limits and models between them.

/** Texts that are remembered; where there are more, the memory begins anew. */
const MOST_TEXTS = 2_000;

export class SharedJson {
  readonly #values = new Map<string, unknown>();

  /** The value of a text; the same object for the same text. Nobody may change it. */
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
