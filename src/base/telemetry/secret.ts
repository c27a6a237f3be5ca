// A value that is never printed by accident. The text is available only through `reveal`.

/** Symbol of `node:util` for an object's printed form. Importing it would load the whole module. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself, for the request header that carries it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [INSPECT](): string {
    return '[secret]';
  }
}
