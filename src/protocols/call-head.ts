// Head of every call in an upstream's answer, whatever the upstream wrote: a name, and an id that no other
// call of the answer has. Clients find tools by the one and results by the other. Knows no body's shape.
import { brokenAnswer } from './broken-answer.ts';
import type { CodecContext } from './protocol.ts';

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
