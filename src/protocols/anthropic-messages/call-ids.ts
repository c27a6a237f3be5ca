// Tool-call ids that Anthropic accepts: letters, digits, `_` and `-`, each used once in a request. Others are
// rewritten, the same way in the call and in its result. Knows nothing of blocks.
import type { Report } from '../../canonical/index.ts';

/** The pattern that Anthropic names when it refuses a `tool_use.id`. */
const LEGAL = /^[a-zA-Z0-9_-]+$/;

export class CallIds {
  readonly #report: Report;
  /** Ids given out in this request. */
  readonly #used = new Set<string>();
  /** The next number to try for an id that is used more than once. */
  readonly #numbers = new Map<string, number>();
  /** The id of the newest call for each of the client's ids. */
  readonly #newest = new Map<string, string>();

  constructor(report: Report) {
    this.#report = report;
  }

  /** The id to send for a call. */
  call(callId: string, path: string): string {
    const legal = legalForm(callId);
    let id = legal;
    for (let n = this.#numbers.get(legal) ?? 2; this.#used.has(id); n++) {
      id = `${legal}_${n}`;
      this.#numbers.set(legal, n + 1);
    }
    this.#used.add(id);
    this.#newest.set(callId, id);
    this.#note(callId, id, path);
    return id;
  }

  /** The id to send for a result: that of the newest call with the client's id. */
  result(callId: string, path: string): string {
    const id = this.#newest.get(callId) ?? legalForm(callId);
    this.#note(callId, id, path);
    return id;
  }

  #note(callId: string, id: string, path: string): void {
    if (id === callId) return;
    this.#report.add(
      path,
      'approximated',
      'the tool-call id was rewritten: Anthropic wants unique ids of letters, digits, _ and -',
    );
  }
}

function legalForm(callId: string): string {
  if (callId === '') return 'call';
  return LEGAL.test(callId) ? callId : callId.replace(/[^a-zA-Z0-9_-]/g, '_');
}
