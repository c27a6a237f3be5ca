// Matches tool results of earlier turns to their calls when clients leave out ids.

/** Calls in order. Calls before `next` have their result. */
interface Queue {
  readonly ids: string[];
  next: number;
}

/** Creates ids for calls without one, and finds the call of a result without an id. */
export class CallMatcher {
  readonly #prefix: string;
  #made = 0;
  readonly #all: Queue = { ids: [], next: 0 };
  readonly #byName = new Map<string, Queue>();
  readonly #answered = new Set<string>();
  /** Names of open calls by id, where the client supplied the id. `#givenOf` counts them by name. */
  readonly #given = new Map<string, string>();
  readonly #givenOf = new Map<string, number>();

  /** @param prefix of created ids */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Registers a call. Created ids depend only on the conversation, so every turn creates the same ones. */
  call(id: string | undefined, name: string): string {
    const known = id ?? this.make();
    if (id !== undefined && !this.#given.has(id) && !this.#answered.has(id)) {
      this.#given.set(id, name);
      this.#givenOf.set(name, (this.#givenOf.get(name) ?? 0) + 1);
    }
    this.#all.ids.push(known);
    const queue = this.#byName.get(name);
    if (queue) queue.ids.push(known);
    else this.#byName.set(name, { ids: [known], next: 0 });
    return known;
  }

  /**
   * Returns the id of the call that a result answers: its own id, or that of the first open call.
   * @param name of the function; undefined: any
   * @returns undefined if no call is open
   */
  result(id: string | undefined, name: string | undefined): string | undefined {
    const found = id ?? this.#firstOpen(name === undefined ? this.#all : this.#byName.get(name));
    if (found !== undefined) this.#answer(found);
    return found;
  }

  /**
   * Counts open calls with client-supplied ids that a result without an id could answer. If there are several, the
   * result is ambiguous.
   */
  openCalls(name: string | undefined): number {
    return (name === undefined ? 0 : this.#givenOf.get(name)) || this.#given.size;
  }

  #answer(id: string): void {
    this.#answered.add(id);
    const name = this.#given.get(id);
    if (name === undefined) return;
    this.#given.delete(id);
    this.#givenOf.set(name, (this.#givenOf.get(name) ?? 1) - 1);
  }

  /** Creates an id that no call has. */
  make(): string {
    return `${this.#prefix}${++this.#made}`;
  }

  #firstOpen(queue: Queue | undefined): string | undefined {
    while (queue && queue.next < queue.ids.length) {
      const id = queue.ids[queue.next++];
      if (id !== undefined && !this.#answered.has(id)) return id;
    }
    return undefined;
  }
}
