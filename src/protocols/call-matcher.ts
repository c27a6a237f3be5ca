// Which call a result of an earlier turn answers, where clients leave ids out. Knows ids and names of calls, and no
// protocol's words for them.

/** Calls in order; those before `next` have their result. */
interface Queue {
  readonly ids: string[];
  next: number;
}

/** Gives ids to calls that have none, and finds the call of a result that names none. */
export class CallMatcher {
  readonly #prefix: string;
  #made = 0;
  readonly #all: Queue = { ids: [], next: 0 };
  readonly #byName = new Map<string, Queue>();
  readonly #answered = new Set<string>();
  /** Names of the open calls whose ids the client gave itself, by id; and how many there are of each name. */
  readonly #given = new Map<string, string>();
  readonly #givenOf = new Map<string, number>();

  /** @param prefix what made ids begin with */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Notes a call. The ids that are made depend on the conversation alone: every turn makes them alike. */
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
   * The id of the call that a result answers: its own, else that of the first open call.
   * @param name of the function; undefined: of any
   * @returns undefined when no call is open
   */
  result(id: string | undefined, name: string | undefined): string | undefined {
    const found = id ?? this.#firstOpen(name === undefined ? this.#all : this.#byName.get(name));
    if (found !== undefined) this.#answer(found);
    return found;
  }

  /**
   * Open calls that a result without an id may answer and whose ids the client gave itself: with several, nobody can tell
   * which one it means.
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

  /** An id that no call has. */
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
