// The one door to the gateway's own tools. Calls come to it from a model in any turn, and from a person who allowed one
// that was asked for in an earlier request; all of one answer are counted and weighed together.
import type { Part } from '../../canonical/index.ts';
import type { CallOutcome } from '../tools/gateway-tool.ts';
import { type ByteAccount, HeldBytes } from '../call.ts';

/** Most calls of its own tools that the gateway makes for one answer. */
const MOST_CALLS = 128;
/**
 * Most characters of all results of one answer, some two million tokens: each travels to the upstream again with every
 * further turn, and what is stored of them is written in one piece, for which others wait.
 */
const MOST_RESULT_CHARS = 8 * 1024 * 1024;

export class CallGate {
  readonly #most: number;
  #made = 0;
  #resultChars = 0;
  readonly #held: HeldBytes;

  /**
   * @param wanted the request's own limit of calls
   * @param account results count there
   */
  constructor(wanted: number | undefined, account: ByteAccount) {
    this.#held = new HeldBytes(account);
    this.#most = Math.min(wanted ?? MOST_CALLS, MOST_CALLS);
  }

  /** Whether one more call may be made. @param waiting calls that were admitted and have not begun */
  admits(waiting: number): boolean {
    return this.#made + waiting < this.#most;
  }

  /** Makes a call; null when it may not be made. What comes of it is as long as the model may still read. */
  async pass(make: () => Promise<CallOutcome>): Promise<CallOutcome | null> {
    if (!this.admits(0)) return null;
    this.#made++;
    const outcome = await make();
    const chars = sizeOf(outcome.parts);
    this.#resultChars += chars;
    this.#held.add(chars);
    if (this.#resultChars <= MOST_RESULT_CHARS) return outcome;
    const text = 'The result is left out: all results of this answer together are too large.';
    return { ...outcome, parts: [{ type: 'text', text }], isError: true };
  }

  /** Text that the model reads of a call that may not be made. */
  get refusal(): string {
    return `No more than ${this.#most} tool calls are allowed in one answer. Answer with what you have.`;
  }
}

/** Characters that the parts of a result add to a request. */
function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => {
    if (part.type === 'text') return sum + part.text.length;
    return 'media' in part && part.media.kind === 'base64' ? sum + part.media.data.length : sum;
  }, 0);
}
