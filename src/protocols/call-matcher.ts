// Which call a result of an earlier turn answers, where clients leave ids out. Knows ids and names of calls, and no
// protocol's words for them.
import { brokenAnswer } from './broken-answer.ts';
import type { CodecContext } from './protocol.ts';

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

// Head of every call in an upstream's answer, whatever the upstream wrote: a name, and an id that no other
// call of the answer has. Clients find tools by the one and results by the other. Knows no body's shape.

/**
 * The name of a call.
 * @throws GatewayError when there is none: nobody could run it, and the client libraries refuse it
 */
export function callName(given: unknown): string {
  if (typeof given !== 'string' || given === '')
    throw brokenAnswer('the upstream called a tool without a name');
  return given;
}

/** The ids of one answer's calls: servers leave them out, and repeat them. */
export class CallIds {
  readonly #context: CodecContext;
  readonly #prefix: string;
  readonly #used = new Set<string>();

  /** @param prefix of ids that are made here */
  constructor(context: CodecContext, prefix: string) {
    this.#context = context;
    this.#prefix = prefix;
  }

  /** The id as given, if it is one and new; else one made here. */
  take(given: unknown): string {
    const known = typeof given === 'string' && given !== '' && !this.#used.has(given);
    const id = known ? given : this.#context.newId(this.#prefix);
    this.#used.add(id);
    return id;
  }
}
