// A tool that the gateway runs between the turns of a model: what the model is offered in its place, and what a call of
// it does. Items are in the form of the Responses API, the one protocol that has them all. Knows no request.
import { isLegalFunctionName, markedFunctionName } from '../canonical/index.ts';
import type { FunctionTool, HostedFacts, JsonObject, Part } from '../canonical/index.ts';

export interface GatewayTool {
  /** The functions that the model is offered. Their names are unique among all tools of the request. */
  readonly functions: readonly FunctionTool[];
  /**
   * A call of one of the functions.
   * @param text the arguments as the model wrote them, perhaps no JSON
   */
  call(name: string, text: string): GatewayCall;
}

export interface GatewayCall {
  /** The item while the call runs, without an id. */
  readonly item: JsonObject;
  /** The item that asks a person first, without an id; null where nobody has to be asked. */
  readonly approval: JsonObject | null;
  /** Never rejects: a failure is an outcome that the model reads. */
  run(signal: AbortSignal): Promise<CallOutcome>;
}

export interface CallOutcome {
  /** Members in which the finished item differs from the running one. */
  readonly item: JsonObject;
  /** The same for protocols that have no such items. */
  readonly facts?: HostedFacts | undefined;
  /** What the model reads. */
  readonly parts: readonly Part[];
  readonly isError: boolean;
  /** What is to be paid, by the name of the tool in prices and usage: `{web_search: 1}`. */
  readonly uses: Readonly<Record<string, number>>;
}

const NOTHING: CallOutcome['uses'] = {};

/** An outcome of text that costs nothing. */
export function said(text: string, item: JsonObject, isError = false): CallOutcome {
  return { item, parts: [{ type: 'text', text }], isError, uses: NOTHING };
}

/** Gives functions names that no other tool of the request has, the same in every turn. */
export class FunctionNames {
  readonly #taken: Set<string>;

  /** @param taken names of the client's own tools */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /**
   * The name itself where it is legal and free, else the nearest that is.
   * @param identity of what it names, where the name alone does not tell
   */
  take(wanted: string, identity = wanted): string {
    let name = wanted;
    for (let n = 0; this.#taken.has(name) || !isLegalFunctionName(name); n++)
      name = markedFunctionName(wanted, `${identity}\n${n}`);
    this.#taken.add(name);
    return name;
  }
}
