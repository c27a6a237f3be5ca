// Limiter for calls of gateway tools. Counts all calls and result sizes of one answer: those of the model in any turn,
// and those approved by a user.
import type { Part } from '../../canonical/index.ts';
import type { CallOutcome } from '../tools/gateway-tool.ts';
import { type ByteAccount, HeldBytes } from '../call.ts';

/** Maximum tool calls of the gateway per answer. */
const MOST_CALLS = 128;
/**
 * Maximum characters of all results of one answer, about two million tokens. Each result is sent upstream again with
 * every further turn, and they are stored in one write that delays others.
 */
const MOST_RESULT_CHARS = 8 * 1024 * 1024;

export class CallGate {
  readonly #most: number;
  #made = 0;
  #resultChars = 0;
  readonly #held: HeldBytes;

  /** @param wanted the request's own limit of calls @param account memory account of the results */
  constructor(wanted: number | undefined, account: ByteAccount) {
    this.#held = new HeldBytes(account);
    this.#most = Math.min(wanted ?? MOST_CALLS, MOST_CALLS);
  }

  /** True when one more call may be made. @param waiting admitted calls that have not begun */
  admits(waiting: number): boolean {
    return this.#made + waiting < this.#most;
  }

  /** Makes a call. Null: it may not be made. The result is replaced if it is too large. */
  async pass(make: () => Promise<CallOutcome>): Promise<CallOutcome | null> {
    if (!this.admits(0)) return null;
    this.#made++;
    const outcome = await make();
    const chars = sizeOf(outcome.parts);
    this.#resultChars += chars;
    this.#held.add(chars);
    if (this.#resultChars <= MOST_RESULT_CHARS) return outcome;
    const text = 'The result was omitted: the results of this response are too large in total.';
    return { ...outcome, parts: [{ type: 'text', text }], isError: true };
  }

  /** Text for the model when a call is refused. */
  get refusal(): string {
    return `At most ${this.#most} tool calls are allowed in one response. Answer with the results that you have.`;
  }
}

/** Characters that the parts of a result add to a request. */
function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => {
    if (part.type === 'text') return sum + part.text.length;
    return 'media' in part && part.media.kind === 'base64' ? sum + part.media.data.length : sum;
  }, 0);
}
