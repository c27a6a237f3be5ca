// Tool-call ids that Anthropic and Bedrock accept: letters, digits, `_` and `-`, each used once in a request. Others are
// rewritten, the same way in the call and in its result. Knows nothing of blocks.
import type { Report } from '../canonical/index.ts';

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
