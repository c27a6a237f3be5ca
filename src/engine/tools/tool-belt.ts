// The tools that the gateway runs for one request: which of those it names, at which endpoint, and under which names the
// model sees them. Rewrites the request for an endpoint that does not run them itself. When they run is not its business.
import type {
  CanonicalRequest,
  ChosenTool,
  JsonObject,
  Report,
  SearchWish,
  Tool,
  ToolChoice,
} from '../../canonical/index.ts';
import { asString, GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { AvailableTools, Native } from '../../tools/available-tools.ts';
import {
  type CallOutcome,
  FunctionNames,
  type GatewayCall,
  type GatewayTool,
} from '../../tools/gateway-tool.ts';
import { addressesMeantIn } from '../../tools/pages/addresses.ts';
import { Sources } from '../../tools/sources.ts';
import { WebSearchTool } from '../../tools/web-search-tool.ts';
import { type McpEntry, openMcpServers } from './mcp-servers.ts';
import { ToolHistory } from './tool-history.ts';

/** Addresses in the client's own words, read when a model first opens a page. What a model said may be made up. */
function addressesOf({ items }: CanonicalRequest): ReadonlySet<string> {
  const texts = items.flatMap((item) =>
    item.type === 'message' && item.role !== 'assistant'
      ? item.parts.map((part) => (part.type === 'text' ? part.text : ''))
      : [],
  );
  return new Set(texts.flatMap((text) => [...addressesMeantIn(text)]));
}

/** What the request means by searching, wherever it says so. */
function searchWish(request: CanonicalRequest): SearchWish | undefined {
  for (const tool of request.tools)
    if (tool.type === 'hosted' && tool.meaning?.type === 'web_search') return tool.meaning.search;
  const { webSearch } = request;
  return webSearch && { ...webSearch, allowedDomains: [], blockedDomains: [] };
}

/** Tells of servers that could not be listed, where the client gets no item that says it. */
function reportUnlisted(servers: readonly McpEntry[], report: Report): void {
  for (const { tool, hosted } of servers) {
    const error = asString(tool.listed?.['error']);
    if (error !== undefined) report.add(hosted.path ?? 'tools', 'dropped', error);
  }
}

export class ToolBelt {
  readonly sources = new Sources();
  readonly #request: CanonicalRequest;
  readonly #available: AvailableTools;
  readonly #search: WebSearchTool | null;
  readonly #servers: readonly McpEntry[];
  readonly #history: ToolHistory;
  readonly #hasItems: boolean;

  /**
   * @param hasItems whether the client's protocol has items for lists of tools and for questions to a person
   * @returns null when the request asks for nothing that could be run here
   */
  static of(request: CanonicalRequest, available: AvailableTools, hasItems: boolean): ToolBelt | null {
    const wish = available.search ? searchWish(request) : undefined;
    const servers = request.tools.some((tool) => tool.type === 'hosted' && tool.meaning?.type === 'mcp');
    refuseAnswers(request);
    return wish || servers ? new ToolBelt(request, available, hasItems, wish) : null;
  }

  private constructor(
    request: CanonicalRequest,
    available: AvailableTools,
    hasItems: boolean,
    wish: SearchWish | undefined,
  ) {
    this.#request = request;
    this.#hasItems = hasItems;
    this.#available = available;
    const names = new FunctionNames(
      request.tools.flatMap((tool) => (tool.type === 'hosted' ? [] : [tool.name])),
    );
    const { sources } = this;
    const { search } = available;
    let mentioned: ReadonlySet<string> | undefined;
    this.#search =
      search && wish
        ? new WebSearchTool({
            wish,
            backend: search.backend,
            pages: search.pages,
            sources,
            names,
            isMentioned: (address) => (mentioned ??= addressesOf(request)).has(address),
          })
        : null;
    this.#servers = openMcpServers(request, hasItems, available.mcp, names);
    this.#history = new ToolHistory({
      search: this.#search,
      servers: new Map(this.#servers.map(({ tool }) => [tool.label, tool])),
    });
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

  /** USD for these uses of the gateway's own tools; null when a price is unknown. */
  priceOf(tool: string): number | null {
    return tool === 'web_search' ? (this.#available.search?.priceUsd ?? null) : null;
  }

  /**
   * The request as an endpoint gets it that does not run these tools itself; the same object where it runs them all.
   * Asks MCP servers what they offer, once per request.
   * @throws GatewayError for a server that neither the endpoint nor the gateway can ask
   */
  async fit(request: CanonicalRequest, endpoint: Endpoint, signal: AbortSignal): Promise<CanonicalRequest> {
    const searches = this.#search !== null && this.#runsSearch(endpoint);
    const servers = this.#servers.filter((entry) => this.#runsServer(entry, endpoint));
    for (const { refusal } of servers) if (refusal) throw refusal;
    if (!endpoint.isVendorRun)
      for (const entry of this.#servers) if (!servers.includes(entry)) await this.#checkLeft(entry);
    await Promise.all(servers.map(({ tool }) => tool.list(signal)));
    if (!this.#hasItems) reportUnlisted(servers, request.report);
    const labels = servers.map(({ tool }) => tool.label);
    const items = this.#history.rewritten(request.items, searches, labels);
    if (!searches && servers.length === 0 && items === request.items) return request;
    const ours = new Set(servers.map(({ hosted }) => hosted));
    const tools: Tool[] = [];
    for (const tool of request.tools) {
      const isSearch = tool.type === 'hosted' && tool.meaning?.type === 'web_search';
      if (!(tool.type === 'hosted' && ours.has(tool)) && !(isSearch && searches)) tools.push(tool);
    }
    if (searches) tools.push(...(this.#search?.functions ?? []));
    for (const { tool } of servers) tools.push(...tool.functions);
    const webSearch = searches ? undefined : request.webSearch;
    const toolChoice = request.toolChoice && this.#choice(request.toolChoice, tools);
    const extra = { ...request.extra };
    for (const { hosted } of servers)
      if (hosted.meaning?.type === 'mcp' && hosted.meaning.mcp.member)
        delete extra[hosted.meaning.mcp.member];
    return { ...request, items, tools, webSearch, toolChoice, extra };
  }

  /** Items that tell what MCP servers offer, of those that are run here for this endpoint and not known yet. */
  announced(endpoint: Endpoint): readonly JsonObject[] {
    return this.#servers.flatMap((entry) => {
      const { listed } = entry.tool;
      return listed && !entry.isKnown && this.#runsServer(entry, endpoint) ? [listed] : [];
    });
  }

  /**
   * Calls that a person has allowed, or refused, since they were asked.
   * @param first the endpoint that is asked first: it runs what it asked for itself
   * @throws GatewayError naming an answer to a question that nobody knows
   */
  answered(first: Endpoint): readonly GatewayCall[] {
    const running = this.#servers.filter((entry) => this.#runsServer(entry, first) && !entry.refusal);
    return this.#history.answered(this.#request.items, new Set(running.map(({ tool }) => tool.label)));
  }

  /** Remembers what came of an allowed call, so that the model reads it. */
  settleAnswer(call: GatewayCall, outcome: CallOutcome): void {
    this.#history.settle(asString(call.item['approval_request_id']) ?? '', outcome);
  }

  /** Ends what was opened for this request. Never rejects. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.map(({ tool }) => tool.close()));
  }

  #toolOf(name: string): GatewayTool | undefined {
    const offers = (tool: GatewayTool): boolean => tool.functions.some((each) => each.name === name);
    if (this.#search && offers(this.#search)) return this.#search;
    return this.#servers.find(({ tool }) => offers(tool))?.tool;
  }

  #runsSearch(endpoint: Endpoint): boolean {
    return !this.#isNative(endpoint.quirks.searchesWeb, this.#available.search?.native);
  }

  #runsServer({ isOurs, refusal }: McpEntry, endpoint: Endpoint): boolean {
    if (isOurs) return true;
    // What may not be asked from here is left to a vendor that can.
    const { isVendorRun, quirks } = endpoint;
    const { runsMcp } = quirks;
    return !(refusal && runsMcp && isVendorRun) && !this.#isNative(runsMcp, this.#available.mcp.native);
  }

  /** Checks the address of a server that an endpoint calls itself, which may reach what strangers may not. */
  async #checkLeft({ hosted, tool }: McpEntry): Promise<void> {
    const url = hosted.meaning?.type === 'mcp' ? hosted.meaning.mcp.url : undefined;
    if (url === undefined) return;
    const param = hosted.path && `${hosted.path}.server_url`;
    await this.#available.mcp.check(url).catch((thrown: unknown) => {
      const { kind, message, code } = GatewayError.from(thrown);
      throw new GatewayError(kind, `the MCP server "${tool.label.slice(0, 100)}": ${message}`, {
        code,
        param,
      });
    });
  }

  #isNative(able: boolean, native: Native | undefined): boolean {
    return able && native !== 'never';
  }

  /** A choice among hosted tools as one among the functions that stand for them. */
  #choice(choice: ToolChoice, tools: readonly Tool[]): ToolChoice {
    if (choice.type !== 'hosted' || !choice.chosen) return choice;
    const { mode, tools: chosen } = choice.chosen;
    const wanted = new Set(chosen.flatMap((each) => this.#namesOf(each)));
    const offered = tools.flatMap((tool) => (tool.type !== 'hosted' && wanted.has(tool.name) ? [tool] : []));
    const [only] = offered;
    // What was chosen is not there, as when a server could not list its tools: the model answers without.
    if (!only) return { type: 'auto' };
    if (offered.length === 1 && mode === 'required')
      return { type: 'tool', kind: only.type, name: only.name };
    return { type: 'allowed', mode, names: offered.map(({ name }) => name) };
  }

  /** The functions for what a choice names. */
  #namesOf(chosen: ChosenTool): readonly string[] {
    switch (chosen.type) {
      case 'named':
        return [chosen.name];
      case 'web_search':
        return this.#search ? [this.#search.searchName] : [];
      case 'mcp': {
        const server = this.#servers.find(({ tool }) => tool.label === chosen.label)?.tool;
        const one = chosen.name === undefined ? undefined : server?.functionOf(chosen.name);
        return one === undefined ? (server?.functions.map((each) => each.name) ?? []) : [one];
      }
    }
  }
}

/** @throws GatewayError when a person has answered, and nobody says for which server: credentials are never kept */
function refuseAnswers({ items, tools }: CanonicalRequest): void {
  const last = items.at(-1);
  if (last?.type !== 'hosted_call' || last.kind !== 'mcp_approval_response') return;
  // Connectors are servers as well, which only their vendor reaches.
  if (tools.some((tool) => tool.type === 'hosted' && tool.kind === 'mcp')) return;
  const message = 'tools must name the MCP server of the approval again: it is not kept from turn to turn';
  throw new GatewayError('invalid_request', message, { param: 'tools' });
}
