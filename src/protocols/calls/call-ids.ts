// Calls in an upstream's answer: each gets a name and a unique id, which clients use to find tools and match results.
import { brokenAnswer } from '../errors/broken-answer.ts';
import type { CodecContext } from '../protocol.ts';

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
