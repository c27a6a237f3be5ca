// Which call a result of an earlier turn answers, where clients leave ids out. Knows ids and names of calls, and no
// protocol's words for them.
import { brokenAnswer } from './broken-answer.ts';
import type { CodecContext } from './protocol.ts';
import type { Report } from '../canonical/index.ts';

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

// Tool-call ids that Anthropic and Bedrock accept: letters, digits, `_` and `-`, each used once in a request. Others are
// rewritten, the same way in the call and in its result. Knows nothing of blocks.

/** The pattern that Anthropic names when it refuses a `tool_use.id`; Bedrock's is the same (API reference `ToolUseBlock`). */
const LEGAL = /^[a-zA-Z0-9_-]+$/;

export class ToolUseIds {
  readonly #report: Report;
  readonly #who: string;
  readonly #longest: number;
  /** Ids given out in this request. */
  readonly #used = new Set<string>();
  /** The next number to try for an id that is used more than once. */
  readonly #numbers = new Map<string, number>();
  /** The id of the newest call for each of the client's ids. */
  readonly #newest = new Map<string, string>();

  /**
   * @param who wants such ids, for the report
   * @param longest characters that an id may have
   */
  constructor(report: Report, who: string, longest = Number.POSITIVE_INFINITY) {
    this.#report = report;
    this.#who = who;
    this.#longest = longest;
  }

  /** The id to send for a call. */
  call(callId: string, path: string): string {
    const legal = this.#legalForm(callId);
    let id = legal;
    for (let n = this.#numbers.get(legal) ?? 2; this.#used.has(id); n++) {
      const suffix = `_${n}`;
      id = legal.slice(0, this.#longest - suffix.length) + suffix;
      this.#numbers.set(legal, n + 1);
    }
    this.#used.add(id);
    this.#newest.set(callId, id);
    this.#note(callId, id, path);
    return id;
  }

  /** The id to send for a result: that of the newest call with the client's id. */
  result(callId: string, path: string): string {
    const id = this.#newest.get(callId) ?? this.#legalForm(callId);
    this.#note(callId, id, path);
    return id;
  }

  #note(callId: string, id: string, path: string): void {
    if (id === callId) return;
    this.#report.add(
      path,
      'approximated',
      `the tool-call id was rewritten: ${this.#who} wants unique ids of letters, digits, _ and -`,
    );
  }

  #legalForm(callId: string): string {
    if (callId === '') return 'call';
    const legal = LEGAL.test(callId) ? callId : callId.replace(/[^a-zA-Z0-9_-]/g, '_');
    // The end of an id is what tells it from its neighbours.
    return legal.length <= this.#longest ? legal : legal.slice(-this.#longest);
  }
}
