// A tool that the gateway runs between model turns: its functions for the model, execution, cost and items. Codecs
// encode the items in their protocol.
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
   * The tools of this kind that a request uses. Sends no requests.
   * @throws GatewayError naming a tool that cannot run
   */
  open(request: CanonicalRequest, scene: ToolScene): readonly GatewayTool[];
}

/** State shared by the tools of one request. */
export interface ToolScene {
  readonly names: FunctionNames;
  /** Pages shown to the model, which it may cite. */
  readonly sources: Sources;
  /** True: the client's protocol has items for tool lists and approval requests. */
  readonly hasItems: boolean;
}

/** Properties of an endpoint that show whether it runs a tool natively. */
export interface ToolEndpoint {
  readonly isVendorRun: boolean;
  readonly quirks: { readonly searchesWeb: boolean; readonly runsMcp: boolean };
}

export interface GatewayTool {
  /** Functions offered to the model. Their names are unique among all tools of the request. */
  readonly functions: readonly FunctionTool[];
  /** Item that lists the tool's functions to the client once before the first call. Undefined: none. */
  readonly announced: HostedFacts | undefined;
  /** USD per use, by name in usage, e.g. `{web_search: 0.005}`. Null: unknown. */
  readonly prices: Readonly<Record<string, number | null>>;
  /** True: the gateway runs it in requests to this endpoint. False: the endpoint does. */
  runsAt(endpoint: ToolEndpoint): boolean;
  /** Prepares the first call, once per request. @throws GatewayError when it cannot run */
  ready(request: CanonicalRequest, signal: AbortSignal): Promise<void>;
  /** Checks a tool that the endpoint runs itself. @throws GatewayError when that is not allowed */
  checkLeft?(endpoint: ToolEndpoint): Promise<void>;
  /** The request without the parts that request the tool. */
  without(request: CanonicalRequest): CanonicalRequest;
  /** Function names for a tool choice. Empty: the choice is not about this tool. */
  chosen(choice: ChosenTool): readonly string[];
  /** True for items of this tool. */
  owns(facts: HostedFacts): boolean;
  /** A call of an earlier answer in the form for the model. @param facts of an item that it `owns` */
  recall(facts: HostedFacts): RecalledCall;
  /** Creates a call of one of the functions. @param text the model's arguments, possibly invalid JSON */
  call(name: string, text: string): GatewayCall;
  /** Creates an approved call. Absent: calls need no approval. */
  allowed?(question: McpQuestionFacts, questionId: string): GatewayCall;
  /** Closes what was opened. Never rejects. */
  close?(): Promise<void>;
}

export interface GatewayCall {
  /** Facts of the item while the call runs. */
  readonly facts: HostedFacts;
  /** Approval request that must be answered first. Null: none. */
  readonly question: McpQuestionFacts | null;
  /** Never rejects: a failure is an outcome for the model. */
  run(signal: AbortSignal): Promise<CallOutcome>;
}

export interface CallOutcome {
  /** Facts of the finished item. */
  readonly facts: HostedFacts;
  /** Content for the model. */
  readonly parts: readonly Part[];
  readonly isError: boolean;
  /** Charged uses, by the tool's name in prices and usage: `{web_search: 1}`. */
  readonly uses: Readonly<Record<string, number>>;
}

/** A call of an earlier answer with its outcome. */
export interface RecalledCall extends Pick<CallOutcome, 'parts' | 'isError'> {
  /** Name of the function as currently offered to the model. */
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

const NO_USES: CallOutcome['uses'] = {};

/** Text outcome without cost. */
export function said(text: string, facts: HostedFacts, isError = false): CallOutcome {
  return { facts, parts: [{ type: 'text', text }], isError, uses: NO_USES };
}

/** The facts of an item that ended without a result. @param message the reason */
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

/** The facts of an item that never began because its answer was truncated. */
export function cutFacts(facts: HostedFacts): HostedFacts {
  return facts.type === 'mcp' ? { ...facts, isCut: true } : failedFacts(facts, 'The response was cut off.');
}

/** Assigns function names that are unique in the request and the same in every turn. */
export class FunctionNames {
  readonly #taken: Set<string>;

  /** @param taken names of the client's own tools */
  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /**
   * Returns the name itself if it is legal and free, otherwise the nearest that is.
   * @param identity of the named tool, if its name is ambiguous
   */
  take(wanted: string, identity = wanted): string {
    let name = wanted;
    for (let n = 0; this.#taken.has(name) || !isLegalFunctionName(name); n++)
      name = markedFunctionName(wanted, `${identity}\n${n}`);
    this.#taken.add(name);
    return name;
  }
}
