// A value that must never be printed. Redaction is by type: whoever wants the text must ask for it by name.

/** Under which `node:util` asks an object how it is printed: its own name for it would load the whole module. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself: for the header that carries it, and nothing else. */
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
