// Tool-call ids for Anthropic and Bedrock: letters, digits, `_` and `-`, each used once per request. Other ids are
// rewritten, in the call and in its result alike.
import type { Report } from '../../canonical/index.ts';

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
  /** Rewritten id of the newest call, by the client's id. */
  readonly #newest = new Map<string, string>();

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
    this.#newest.set(callId, id);
    this.#note(callId, id, path);
    return id;
  }

  /** Returns the id to send for a result: that of the newest call with the client's id. */
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
