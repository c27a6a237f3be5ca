// Ids of tool calls, which connect a call and its result: unique in a response, in the form that each protocol allows, and found
// again when a client leaves them out.
import { brokenAnswer } from '../errors/broken-answer.ts';
import type { CodecContext } from '../protocol.ts';
import type { Report } from '../../canonical/index.ts';

// Calls in an upstream's answer: each gets a name and a unique id.

/**
 * Returns the name of a call.
 * @throws GatewayError if it is missing: clients could not run the call, and client libraries reject it
 */
export function callName(given: unknown): string {
  if (typeof given !== 'string' || given === '')
    throw brokenAnswer('the upstream called a tool without a name');
  return given;
}

/** Ids of one answer's calls. Servers omit ids and repeat them. */
export class CallIds {
  readonly #context: CodecContext;
  readonly #prefix: string;
  readonly #used = new Set<string>();

  /** @param prefix of created ids */
  constructor(context: CodecContext, prefix: string) {
    this.#context = context;
    this.#prefix = prefix;
  }

  /** Returns the given id if it is present and unused, otherwise a new id. */
  take(given: unknown): string {
    const known = typeof given === 'string' && given !== '' && !this.#used.has(given);
    const id = known ? given : this.#context.newId(this.#prefix);
    this.#used.add(id);
    return id;
  }
}

/**
 * Facts about the calls of a conversation, for the results that answer them. Parallel calls with the same id are answered
 * in their order.
 */
export class CallsById<Fact> {
  /** Unanswered calls of the last turn. */
  readonly #open = new Map<string, Fact[]>();
  readonly #newest = new Map<string, Fact>();
  #isAnswered = false;

  call(callId: string, fact: Fact): void {
    // A call after results begins another turn.
    if (this.#isAnswered) this.#open.clear();
    this.#isAnswered = false;
    const open = this.#open.get(callId);
    if (open) open.push(fact);
    else this.#open.set(callId, [fact]);
    this.#newest.set(callId, fact);
  }

  /** Returns the fact of the first unanswered call with this id, or of the newest. Undefined: no call has the id. */
  result(callId: string): Fact | undefined {
    this.#isAnswered = true;
    return this.#open.get(callId)?.shift() ?? this.#newest.get(callId);
  }
}

// Tool-call ids for Anthropic and Bedrock: letters, digits, `_` and `-`, each used once per request. Other ids are
// rewritten, in the call and in its result alike.

/** Pattern that Anthropic names when it refuses a `tool_use.id`. Bedrock's is the same (API reference `ToolUseBlock`). */
const LEGAL = /^[a-zA-Z0-9_-]+$/;

/** Ids of one request to such a vendor. */
export class ToolUseIds {
  readonly #report: Report;
  readonly #receiver: string;
  readonly #longest: number;
  /** Ids already used in this request. */
  readonly #used = new Set<string>();
  /** Next suffix to try for an id that is used more than once. */
  readonly #numbers = new Map<string, number>();
  /** Rewritten ids of the calls. */
  readonly #sent = new CallsById<string>();

  /** @param who the vendor with this rule, for the report @param longest maximum length of an id, in characters */
  constructor(report: Report, who: string, longest = Number.POSITIVE_INFINITY) {
    this.#report = report;
    this.#receiver = who;
    this.#longest = longest;
  }

  /** Returns the id to send for a call. */
  call(callId: string, path: string): string {
    const legal = this.#legalForm(callId);
    let id = legal;
    for (let n = this.#numbers.get(legal) ?? 2; this.#used.has(id); n++) {
      const suffix = `_${n}`;
      id = legal.slice(0, this.#longest - suffix.length) + suffix;
      this.#numbers.set(legal, n + 1);
    }
    this.#used.add(id);
    this.#sent.call(callId, id);
    this.#note(callId, id, path);
    return id;
  }

  /** Returns the id to send for a result: that of the call with the client's id. */
  result(callId: string, path: string): string {
    const id = this.#sent.result(callId) ?? this.#legalForm(callId);
    this.#note(callId, id, path);
    return id;
  }

  #note(callId: string, id: string, path: string): void {
    if (id === callId) return;
    this.#report.add(
      path,
      'approximated',
      `the tool-call id was rewritten: ${this.#receiver} requires unique ids of letters, digits, _ and -`,
    );
  }

  #legalForm(callId: string): string {
    if (callId === '') return 'call';
    const legal = LEGAL.test(callId) ? callId : callId.replace(/[^a-zA-Z0-9_-]/g, '_');
    // Ids usually differ at their end, so the beginning is cut.
    return legal.length <= this.#longest ? legal : legal.slice(-this.#longest);
  }
}

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
