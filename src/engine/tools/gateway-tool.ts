// A tool that the gateway runs between the turns of a model: its definition for the model, how a call runs, its cost,
// and its item. Codecs render items in their protocol. Knows no tool by name.
import { isLegalFunctionName, markedFunctionName } from '../../canonical/index.ts';
import type {
  CanonicalRequest,
  ChosenTool,
  FunctionTool,
  HostedFacts,
  McpQuestionFacts,
  Part,
} from '../../canonical/index.ts';
import type { Sources } from './sources.ts';

/** A kind of tool under the current configuration. */
export interface ToolKind {
  /**
   * The tools of this kind that a request asks for; empty where it asks for none. Asks nobody.
   * @throws GatewayError naming what asks for a tool that cannot be
   */
  open(request: CanonicalRequest, scene: ToolScene): readonly GatewayTool[];
}

/** State that the tools of one request share. */
export interface ToolScene {
  readonly names: FunctionNames;
  /** The pages that the model was shown, which it may cite. */
  readonly sources: Sources;
  /** Whether the client's protocol has items for lists of tools and for questions to a person. */
  readonly hasItems: boolean;
}

/** Facts of an endpoint that show whether it runs a tool itself. */
export interface ToolEndpoint {
  readonly isVendorRun: boolean;
  readonly quirks: { readonly searchesWeb: boolean; readonly runsMcp: boolean };
}

export interface GatewayTool {
  /** The functions that the model is offered. Their names are unique among all tools of the request. */
  readonly functions: readonly FunctionTool[];
  /** The tool's offer, as the client is shown it once before its first call. Undefined: nothing. */
  readonly announced: HostedFacts | undefined;
  /** USD of one use by its name in usage, e.g. `{web_search: 0.005}`; null when unknown. */
  readonly prices: Readonly<Record<string, number | null>>;
  /** True when the gateway runs it in requests to this endpoint; false: the endpoint itself does. */
  runsAt(endpoint: ToolEndpoint): boolean;
  /** Readies it for its first call, once per request. @throws GatewayError where nobody can run it */
  ready(request: CanonicalRequest, signal: AbortSignal): Promise<void>;
  /** Checks what an endpoint is left to do itself. @throws GatewayError for what it may not be asked */
  checkLeft?(endpoint: ToolEndpoint): Promise<void>;
  /** The request without what asks for it. */
  without(request: CanonicalRequest): CanonicalRequest;
  /** The names of the functions for what a choice among tools names; empty for what is not its own. */
  chosen(choice: ChosenTool): readonly string[];
  /** True for its own work. */
  owns(facts: HostedFacts): boolean;
  /** A call of an earlier answer, as the model reads it. @param facts of one that it `owns` */
  recall(facts: HostedFacts): RecalledCall;
  /**
   * A call of one of the functions.
   * @param text the arguments as the model wrote them, perhaps no JSON
   */
  call(name: string, text: string): GatewayCall;
  /** A call that a person has allowed. Absent: nobody is ever asked. */
  allowed?(question: McpQuestionFacts, questionId: string): GatewayCall;
  /** Ends what was opened. Never rejects. */
  close?(): Promise<void>;
}

export interface GatewayCall {
  /** Facts of the item while the call runs. */
  readonly facts: HostedFacts;
  /** The question that a person must answer first; null where nobody has to be asked. */
  readonly question: McpQuestionFacts | null;
  /** Never rejects: a failure is an outcome that the model reads. */
  run(signal: AbortSignal): Promise<CallOutcome>;
}

export interface CallOutcome {
  /** Facts of the finished item. */
  readonly facts: HostedFacts;
  /** Content that the model reads. */
  readonly parts: readonly Part[];
  readonly isError: boolean;
  /** Charged uses, by the name of the tool in prices and usage: `{web_search: 1}`. */
  readonly uses: Readonly<Record<string, number>>;
}

/** A call of an earlier answer and what came of it. */
export interface RecalledCall extends Pick<CallOutcome, 'parts' | 'isError'> {
  /** The function, as the model is offered it now. */
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

const NOTHING: CallOutcome['uses'] = {};

/** An outcome of text that costs nothing. */
export function said(text: string, facts: HostedFacts, isError = false): CallOutcome {
  return { facts, parts: [{ type: 'text', text }], isError, uses: NOTHING };
}

/** The same work, ended without a result. @param message tells why */
export function failedFacts(facts: HostedFacts, message: string): HostedFacts {
  switch (facts.type) {
    case 'mcp':
      return { ...facts, output: message, isError: true, failure: { message } };
    case 'tool':
      return { ...facts, output: message, isError: true };
    case 'web_search':
    case 'web_page':
      return { ...facts, isError: true };
    default:
      return facts;
  }
}

/** The same work, which was never begun because its answer was cut short. */
export function cutFacts(facts: HostedFacts): HostedFacts {
  return facts.type === 'mcp' ? { ...facts, isCut: true } : failedFacts(facts, 'The answer was cut short.');
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
