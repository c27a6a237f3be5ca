// The tools that the gateway runs for one request: which of those it asks for, at which endpoint, and under which names the
// model sees them. Rewrites the request for an endpoint that does not run them itself. Knows no tool, and not when one runs.
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

/** False where nothing could ask for a tool of the gateway, as in most requests. */
function mayAsk({ tools, webSearch, items }: CanonicalRequest): boolean {
  if (webSearch || items.at(-1)?.type === 'hosted_call') return true;
  return tools.some(({ type }) => type === 'hosted');
}

export class ToolRegistry {
  readonly sources: Sources;
  readonly #request: CanonicalRequest;
  readonly #tools: readonly GatewayTool[];
  readonly #history = new ToolHistory();

  /**
   * @param available asked only where the request may ask for any of them
   * @param hasItems whether the client's protocol has items for lists of tools and for questions to a person
   * @returns null when the request asks for nothing that could be run here
   * @throws GatewayError naming what asks for a tool that cannot be
   */
  static of(
    request: CanonicalRequest,
    available: () => AvailableTools,
    hasItems: boolean,
  ): ToolRegistry | null {
    if (!mayAsk(request)) return null;
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

  /** The names of functions that the gateway runs. */
  has(name: string): boolean {
    return this.#toolOf(name) !== undefined;
  }

  /** Throws TypeError for a name that is not one of these. */
  call(name: string, text: string): GatewayCall {
    const tool = this.#toolOf(name);
    if (!tool) throw new TypeError(`no tool of the gateway is called ${name}`);
    return tool.call(name, text);
  }

  /** USD for one of these uses of the gateway's own tools; null when the price is unknown. */
  priceOf(use: string): number | null {
    for (const { prices } of this.#tools) if (prices[use] !== undefined) return prices[use];
    return null;
  }

  /**
   * The request as an endpoint gets it that does not run these tools itself; the same object where it runs them all.
   * Asks MCP servers what they offer, once per request.
   * @throws GatewayError for a server that neither the endpoint nor the gateway can ask
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

  /** Items that the tools show the client of what they offer to this endpoint. */
  announced(endpoint: Endpoint): readonly HostedFacts[] {
    return this.#running(endpoint).flatMap(({ announced }) => announced ?? []);
  }

  /**
   * Calls that a person has allowed, or refused, since they were asked.
   * @param first the endpoint that is asked first: it runs what it asked for itself
   * @throws GatewayError naming an answer to a question that nobody knows
   */
  answered(first: Endpoint): readonly AllowedCall[] {
    return this.#history.answered(this.#request.items, this.#running(first));
  }

  /** Remembers what came of an allowed call, so that the model reads it. */
  settleAnswer({ questionId }: AllowedCall, outcome: Pick<CallOutcome, 'parts' | 'isError'>): void {
    this.#history.settle(questionId, outcome);
  }

  /** Ends what was opened for this request. Never rejects. */
  async close(): Promise<void> {
    await Promise.all(this.#tools.map(async (tool) => tool.close?.()));
  }

  #toolOf(name: string): GatewayTool | undefined {
    return this.#tools.find(({ functions }) => functions.some((each) => each.name === name));
  }

  #running(endpoint: Endpoint): readonly GatewayTool[] {
    return this.#tools.filter((tool) => tool.runsAt(endpoint));
  }

  /** A choice among hosted tools as one among the functions that stand for them. */
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
    // The chosen tool is not there, as when a server could not list its tools: the model answers without.
    if (!only) return { type: 'auto' };
    if (offered.length === 1 && mode === 'required')
      return { type: 'tool', kind: only.type, name: only.name };
    return { type: 'allowed', mode, names: offered.map(({ name }) => name) };
  }
}

/** A call that a person has allowed. */
export interface AllowedCall {
  readonly questionId: string;
  readonly call: GatewayCall;
}
