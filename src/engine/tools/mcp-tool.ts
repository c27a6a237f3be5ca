// Tools of one MCP server as tools for a model: which are offered, which calls need approval, and the contents of
// items.
import { isJsonObject, parseJson } from '../../base/json/index.ts';
import { plainMediaType, sniffMediaType } from '../../base/lib/media-type.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type {
  CanonicalRequest,
  ChosenTool,
  FunctionTool,
  HostedFacts,
  HostedTool,
  McpApproval,
  McpCallFacts,
  McpFilter,
  McpOffer,
  McpQuestionFacts,
  McpToolsFacts,
  McpWish,
  Part,
} from '../../canonical/index.ts';
import type { Native } from './available-tools.ts';
import {
  type CallOutcome,
  type FunctionNames,
  type GatewayCall,
  type GatewayTool,
  type RecalledCall,
  type ToolEndpoint,
} from './gateway-tool.ts';
import { hasText, type McpContent, type McpResult } from './mcp/result.ts';
import type { McpSession, McpTool } from './mcp/session.ts';
import { visibleText } from './visible-text.ts';

export interface McpServerToolInput {
  readonly wish: McpWish;
  /** The tool in the request, which an endpoint may run natively. */
  readonly hosted: HostedTool;
  readonly native: Native;
  /** True for the operator's server, whose address and secrets must not be sent to others. */
  readonly isOurs: boolean;
  /** Why it cannot be called from here, so that only an endpoint can. Null: it can. */
  readonly refusal: GatewayError | null;
  /** Null: the server must not be called from here. */
  readonly session: McpSession | null;
  readonly names: FunctionNames;
  /** Tools of a configured server that the operator allows. Null: all. */
  readonly allowed: McpFilter | null;
  /** Which calls need approval. */
  readonly approval: McpApproval;
  /** Tools listed in an earlier turn, which the client has seen. Undefined: the server must list them. */
  readonly earlier: McpToolsFacts | undefined;
  /** True: the client's protocol has items for tool lists. */
  readonly hasItems: boolean;
  /** Behaviour when the server cannot list its tools. */
  readonly onUnlisted: 'fail' | 'continue';
  /** Checks an address that an upstream will call itself. @throws GatewayError `url_not_allowed` */
  readonly check: (url: string) => Promise<void>;
}

const NO_ARGUMENTS = {};

export class McpServerTool implements GatewayTool {
  readonly prices = NO_ARGUMENTS;
  readonly #input: McpServerToolInput;
  #functions: readonly FunctionTool[] = [];
  /** By function name for the model. */
  readonly #tools = new Map<string, McpTool>();
  readonly #namesOf = new Map<string, string>();
  #listing: Promise<McpToolsFacts> | undefined;
  #listed: McpToolsFacts | undefined;

  constructor(input: McpServerToolInput) {
    this.#input = input;
  }

  get functions(): readonly FunctionTool[] {
    return this.#functions;
  }

  get announced(): McpToolsFacts | undefined {
    return this.#input.earlier ? undefined : this.#listed;
  }

  runsAt({ isVendorRun, quirks: { runsMcp } }: ToolEndpoint): boolean {
    const { isOurs, refusal, native } = this.#input;
    if (isOurs) return true;
    // A server that must not be called from here is left to a vendor that can.
    return !(refusal && runsMcp && isVendorRun) && !(runsMcp && native !== 'never');
  }

  /**
   * Lists the server's tools once.
   * @throws GatewayError `tool_unavailable` when that fails and the model must not continue without them
   */
  async ready({ report }: CanonicalRequest, signal: AbortSignal): Promise<void> {
    const { refusal, hosted, hasItems } = this.#input;
    if (refusal) throw refusal;
    this.#listing ??= this.#list(signal);
    this.#listed = await this.#listing;
    const { error } = this.#listed;
    // The client gets no item that shows the error.
    if (error !== undefined && !hasItems) report.add(hosted.path ?? 'tools', 'dropped', error);
  }

  /**
   * Checks the address of a server that a self-hosted endpoint calls, because the endpoint may reach private networks.
   */
  async checkLeft({ isVendorRun }: ToolEndpoint): Promise<void> {
    const { wish, hosted, check } = this.#input;
    if (isVendorRun || wish.url === undefined) return;
    const param = hosted.path && `${hosted.path}.server_url`;
    await check(wish.url).catch((thrown: unknown) => {
      const { kind, message, code } = GatewayError.from(thrown);
      const words = `the MCP server "${wish.label.slice(0, 100)}": ${message}`;
      throw new GatewayError(kind, words, { code, param });
    });
  }

  without(request: CanonicalRequest): CanonicalRequest {
    const { hosted, wish } = this.#input;
    const tools = request.tools.filter((tool) => tool !== hosted);
    if (wish.member === undefined) return { ...request, tools };
    const { [wish.member]: _, ...extra } = request.extra;
    return { ...request, tools, extra };
  }

  chosen(choice: ChosenTool): readonly string[] {
    if (choice.type !== 'mcp' || choice.label !== this.#input.wish.label) return [];
    const one = choice.name === undefined ? undefined : this.#namesOf.get(choice.name);
    return one === undefined ? this.#functions.map(({ name }) => name) : [one];
  }

  owns(facts: HostedFacts): boolean {
    return 'server' in facts && facts.server === this.#input.wish.label;
  }

  recall(facts: HostedFacts): RecalledCall {
    const { name: own, arguments: text } =
      facts.type === 'mcp' || facts.type === 'mcp_question' ? facts : { name: '', arguments: '' };
    const isError = facts.type !== 'mcp' || facts.isError === true;
    const said = facts.type === 'mcp' ? (facts.output ?? '') : TEXTS.notAllowed;
    return {
      name: this.#namesOf.get(own) ?? own,
      arguments: text || '{}',
      parts: [{ type: 'text', text: said }],
      isError,
    };
  }

  async #list(signal: AbortSignal): Promise<McpToolsFacts> {
    const { wish, earlier } = this.#input;
    if (earlier) {
      this.#offer(
        earlier.tools.map(({ name, description, inputSchema, annotations }) => ({
          name,
          description: description ?? '',
          inputSchema,
          ...(annotations && { annotations }),
        })),
      );
      return earlier;
    }
    try {
      const tools = (await this.#session().listTools(signal)).filter((tool) => this.#isAllowed(tool));
      this.#offer(tools);
      return { type: 'mcp_tools', server: wish.label, tools: tools.map(offered) };
    } catch (thrown) {
      const error = GatewayError.from(thrown);
      if (this.#input.onUnlisted === 'fail') throw this.#unlisted(error);
      return { type: 'mcp_tools', server: wish.label, tools: [], error: error.message };
    }
  }

  /** The message begins with OpenAI's text, which clients recognise. A cancelled listing stays cancelled. */
  #unlisted(error: GatewayError): GatewayError {
    if (error.kind === 'cancelled') return error;
    const { wish, hosted } = this.#input;
    const label = wish.label.slice(0, 100);
    const message = `Error retrieving tool list from MCP server: '${label}'. ${error.message}`;
    // Errors in the request: an address that is not allowed, or a header that cannot be sent.
    if (error.code === 'mcp_not_allowed' || error.code === 'mcp_invalid')
      return new GatewayError('invalid_request', message, { param: hosted.path, code: error.code });
    return new GatewayError('tool_unavailable', message, { param: listOf(hosted.path) });
  }

  #offer(tools: readonly McpTool[]): void {
    const { names, wish } = this.#input;
    const functions: FunctionTool[] = [];
    for (const tool of tools) {
      if (this.#namesOf.has(tool.name) || !this.#isAllowed(tool)) continue;
      const name = names.take(`${wish.label}__${tool.name}`, `${wish.label}\n${tool.name}`);
      this.#tools.set(name, tool);
      this.#namesOf.set(tool.name, name);
      const { description = '', inputSchema: parameters } = tool;
      functions.push({ type: 'function', name, description: visibleText(description), parameters });
    }
    this.#functions = functions;
  }

  #isAllowed(tool: McpTool): boolean {
    const { wish, allowed } = this.#input;
    return matches(tool, wish.allowed) && matches(tool, allowed);
  }

  call(name: string, text: string): GatewayCall {
    const tool = this.#tools.get(name);
    const facts = this.#facts(tool?.name ?? name, text);
    const question = tool && this.#needsApproval(tool) ? questionOf(facts) : null;
    return { facts, question, run: (signal) => this.#run(facts, signal) };
  }

  allowed({ name, arguments: text }: McpQuestionFacts, questionId: string): GatewayCall {
    const facts = { ...this.#facts(name, text), questionId };
    return { facts, question: null, run: (signal) => this.#run(facts, signal) };
  }

  /** Ends the session with the server. Never rejects. */
  async close(): Promise<void> {
    await this.#input.session?.close();
  }

  #session(): McpSession {
    const { session } = this.#input;
    if (!session) throw new GatewayError('invalid_request', 'This MCP server is not allowed.');
    return session;
  }

  #facts(name: string, text: string): McpCallFacts {
    const args = text.trim() === '' ? {} : parseJson(text);
    const input = isJsonObject(args) ? args : {};
    return { type: 'mcp', server: this.#input.wish.label, name, input, arguments: text || '{}' };
  }

  async #run(facts: McpCallFacts, signal: AbortSignal): Promise<CallOutcome> {
    const { name, input, arguments: text = '' } = facts;
    if (text.trim() !== '' && !isJsonObject(parseJson(text)))
      return failed('The arguments are not a JSON object.', facts);
    const { wish, allowed } = this.#input;
    if (!isNamed(name, wish.allowed) || !isNamed(name, allowed))
      return failed(`The tool ${name} is not allowed.`, facts);
    try {
      return outcomeOf(await this.#session().callTool(name, input, signal), facts);
    } catch (thrown) {
      return failed(GatewayError.from(thrown).message, facts);
    }
  }

  #needsApproval(tool: McpTool): boolean {
    const { approval } = this.#input;
    if (typeof approval === 'string') return approval === 'always';
    // A tool in both lists needs approval.
    if (approval.always && matches(tool, approval.always)) return true;
    if (approval.never && matches(tool, approval.never)) return false;
    // A tool in neither list needs approval, which is the API's default.
    return true;
  }
}

/** Member of the body that contains the tool. OpenAI names it without the index. */
function listOf(path: string | undefined): string {
  return path?.replace(/\[.*$/, '') ?? 'tools';
}

function matches(tool: McpTool, filter: McpFilter | null): boolean {
  if (!filter) return true;
  if (!isNamed(tool.name, filter)) return false;
  return filter.readOnly === undefined || (tool.annotations?.['readOnlyHint'] === true) === filter.readOnly;
}

function isNamed(name: string, filter: McpFilter | null): boolean {
  return (filter?.names?.includes(name) ?? true) && filter?.except?.includes(name) !== true;
}

function offered(tool: McpTool): McpOffer {
  const { name, description = null, inputSchema, annotations = null } = tool;
  return { name, description, inputSchema, annotations };
}

function questionOf({ server, name, arguments: text = '' }: McpCallFacts): McpQuestionFacts {
  return { type: 'mcp_question', server, name, arguments: text };
}

/** Outcome of a call without a result. */
function failed(message: string, facts: McpCallFacts): CallOutcome {
  const text = `The call failed: ${message}`;
  const failed = { ...facts, output: text, isError: true, failure: { message } };
  return { facts: failed, parts: [{ type: 'text', text }], isError: true, uses: NO_ARGUMENTS };
}

function outcomeOf(result: McpResult, call: McpCallFacts): CallOutcome {
  const parts = result.parts.flatMap(partsOf);
  // Servers should repeat structured content as text; otherwise it is added here for the model.
  if (!hasText(result.parts) && result.structured)
    parts.push({ type: 'text', text: visibleText(JSON.stringify(result.structured)) });
  if (result.truncated) parts.push({ type: 'text', text: '[The result was truncated: it is too long.]' });
  const texts = parts.map(asText);
  const { isError } = result;
  const failure = isError ? { failure: { texts } } : {};
  const facts = { ...call, output: texts.join('\n'), isError, ...failure };
  return { facts, parts, isError, uses: NO_ARGUMENTS };
}

/** Images that every vendor's models read. Others would fail the request after the call was made. */
const READABLE_IMAGES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

function partsOf(content: McpContent): Part[] {
  switch (content.type) {
    case 'text':
      return [{ type: 'text', text: visibleText(content.text) }];
    case 'image': {
      const { data, mimeType } = content;
      const mediaType = sniffMediaType(data) ?? plainMediaType(mimeType) ?? '';
      return READABLE_IMAGES.has(mediaType) && data !== ''
        ? [{ type: 'image', media: { kind: 'base64', data, mediaType } }]
        : [described({ type: 'image', mimeType })];
    }
    case 'resource':
      return [
        { type: 'text', text: visibleText(content.text ?? JSON.stringify({ ...content, blob: undefined })) },
      ];
    default: {
      const { data: _, ...members } = { data: undefined, ...content };
      return [described(members)];
    }
  }
}

function described(content: object): Part {
  return { type: 'text', text: visibleText(JSON.stringify(content)) };
}

function asText(part: Part): string {
  if (part.type === 'text') return part.text;
  return part.type === 'image' && part.media.kind === 'base64' ? `[image ${part.media.mediaType ?? ''}]` : '';
}
