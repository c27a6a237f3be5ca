// Calls that persons allowed, and what came of them: an answer to a question is good for one call, also when the same
// request is sent again because its answer was lost. Lives with the process; a failed call may be allowed anew.
import type { CallOutcome, GatewayCall } from '../tools/gateway-tool.ts';

/** Answers that are remembered; the oldest go first. */
const MOST = 10_000;

export class AnsweredCalls {
  readonly #outcomes = new Map<string, Promise<CallOutcome>>();

  /**
   * Makes the call, or gives what came of it when it was made.
   * @param keyId tenant: another key's question is another question
   */
  make(keyId: string, call: GatewayCall, signal: AbortSignal): Promise<CallOutcome> {
    // Items come from clients: a changed call is another call.
    const key = JSON.stringify([keyId, call.item]);
    const known = this.#outcomes.get(key);
    if (known) return known;
    const outcome = this.#run(key, call, signal);
    this.#outcomes.set(key, outcome);
    const [oldest] = this.#outcomes.keys();
    if (this.#outcomes.size > MOST && oldest !== undefined) this.#outcomes.delete(oldest);
    return outcome;
  }

  async #run(key: string, call: GatewayCall, signal: AbortSignal): Promise<CallOutcome> {
    const outcome = await call.run(signal);
    if (outcome.isError) this.#outcomes.delete(key);
    return outcome;
  }
}
