// Gateway tools of one request: which tools apply, at which endpoints, and with which function names. Rewrites the
// request for endpoints that do not run them natively.
import type { CanonicalRequest, HostedFacts, Tool, ToolChoice } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { AvailableTools } from '../tools/available-tools.ts';
import {
  type CallOutcome,
  FunctionNames,
  type GatewayCall,
  type GatewayTool,
} from '../tools/gateway-tool.ts';
import { Sources } from '../tools/sources.ts';
import { ToolHistory } from './tool-history.ts';

/** False when the request cannot use gateway tools, as most requests. */
function mayUseTools({ tools, webSearch, items }: CanonicalRequest): boolean {
  if (webSearch || items.at(-1)?.type === 'hosted_call') return true;
  return tools.some(({ type }) => type === 'hosted');
}

export class ToolRegistry {
  readonly sources: Sources;
  readonly #request: CanonicalRequest;
  readonly #tools: readonly GatewayTool[];
  readonly #history = new ToolHistory();

  /**
   * @param available called only if the request may use any of them
   * @param hasItems true: the client's protocol has items for tool lists and approval requests
   * @returns null when the request uses no tools that run here
   * @throws GatewayError naming a tool that cannot run
   */
  static of(
    request: CanonicalRequest,
    available: () => AvailableTools,
    hasItems: boolean,
  ): ToolRegistry | null {
    if (!mayUseTools(request)) return null;
    const sources = new Sources();
    const own = request.tools.flatMap((tool) => (tool.type === 'hosted' ? [] : [tool.name]));
    const scene = { sources, hasItems, names: new FunctionNames(own) };
    const tools = available().flatMap((kind) => kind.open(request, scene));
    return tools.length > 0 ? new ToolRegistry(request, tools, sources) : null;
  }

  private constructor(request: CanonicalRequest, tools: readonly GatewayTool[], sources: Sources) {
    this.#request = request;
    this.#tools = tools;
    this.sources = sources;
  }

  /** True for the name of a function that the gateway runs. */
  has(name: string): boolean {
    return this.#toolOf(name) !== undefined;
  }

  /** Throws TypeError for an unknown name. */
  call(name: string, text: string): GatewayCall {
    const tool = this.#toolOf(name);
    if (!tool) throw new TypeError(`the gateway has no tool called ${name}`);
    return tool.call(name, text);
  }

  /** USD per use of a gateway tool. Null: unknown. */
  priceOf(use: string): number | null {
    for (const { prices } of this.#tools) if (prices[use] !== undefined) return prices[use];
    return null;
  }

  /**
   * Rewrites the request for an endpoint that does not run these tools natively. Returns the same object if it runs all
   * of them. Lists the tools of MCP servers once per request.
   * @throws GatewayError for a server that neither the endpoint nor the gateway can reach
   */
  async fit(request: CanonicalRequest, endpoint: Endpoint, signal: AbortSignal): Promise<CanonicalRequest> {
    const running = this.#running(endpoint);
    await Promise.all(
      this.#tools.map(async (tool) => (running.includes(tool) ? undefined : tool.checkLeft?.(endpoint))),
    );
    await Promise.all(running.map((tool) => tool.ready(request, signal)));
    const items = this.#history.rewritten(request.items, running);
    if (running.length === 0 && items === request.items) return request;
    let fitting: CanonicalRequest = { ...request, items };
    for (const tool of running) fitting = tool.without(fitting);
    const tools = [...fitting.tools, ...running.flatMap(({ functions }) => functions)];
    const toolChoice = request.toolChoice && this.#choice(request.toolChoice, tools);
    return { ...fitting, tools, toolChoice };
  }

  /** Items that show the client what the tools offer at this endpoint. */
  announced(endpoint: Endpoint): readonly HostedFacts[] {
    return this.#running(endpoint).flatMap(({ announced }) => announced ?? []);
  }

  /**
   * Calls that a user approved or refused since the request for approval.
   * @param first the first endpoint; it runs its own calls
   * @throws GatewayError naming an approval of an unknown request
   */
  approvedCalls(first: Endpoint): readonly ApprovedCall[] {
    return this.#history.approvedCalls(this.#request.items, this.#running(first));
  }

  /** Stores the outcome of an approved call for the model. */
  storeOutcome({ questionId }: ApprovedCall, outcome: Pick<CallOutcome, 'parts' | 'isError'>): void {
    this.#history.storeOutcome(questionId, outcome);
  }

  /** Closes what was opened for this request. Never rejects. */
  async close(): Promise<void> {
    await Promise.all(this.#tools.map(async (tool) => tool.close?.()));
  }

  #toolOf(name: string): GatewayTool | undefined {
    return this.#tools.find(({ functions }) => functions.some((each) => each.name === name));
  }

  #running(endpoint: Endpoint): readonly GatewayTool[] {
    return this.#tools.filter((tool) => tool.runsAt(endpoint));
  }

  /** Converts a choice among hosted tools to one among their functions. */
  #choice(choice: ToolChoice, tools: readonly Tool[]): ToolChoice {
    if (choice.type !== 'hosted' || !choice.chosen) return choice;
    const { mode, tools: chosen } = choice.chosen;
    const wanted = new Set(
      chosen.flatMap((each) =>
        each.type === 'named' ? [each.name] : this.#tools.flatMap((tool) => tool.chosen(each)),
      ),
    );
    const offered = tools.flatMap((tool) => (tool.type !== 'hosted' && wanted.has(tool.name) ? [tool] : []));
    const [only] = offered;
    // The chosen tool is unavailable, for example because its server could not list its tools. The model answers
    // without it.
    if (!only) return { type: 'auto' };
    if (offered.length === 1 && mode === 'required')
      return { type: 'tool', kind: only.type, name: only.name };
    return { type: 'allowed', mode, names: offered.map(({ name }) => name) };
  }
}

/** An approved call. */
export interface ApprovedCall {
  readonly questionId: string;
  readonly call: GatewayCall;
}
