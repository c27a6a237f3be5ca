// The tools of one remote MCP server as tools of a model: which of them it is offered, which calls a person must allow
// first, and what the items say. How the server is reached is decided below this.
import { asArray, asString, GatewayError, isJsonObject, parseJson } from '../canonical/index.ts';
import type {
  FunctionTool,
  JsonObject,
  JsonValue,
  McpApproval,
  McpFilter,
  McpWish,
  MutableJsonObject,
  Part,
} from '../canonical/index.ts';
import { visibleText } from './visible-text.ts';
import type { CallOutcome, FunctionNames, GatewayCall, GatewayTool } from './gateway-tool.ts';
import type { McpContent, McpResult } from './mcp/result.ts';
import type { McpSession, McpTool } from './mcp/session.ts';

export interface McpServerToolInput {
  readonly wish: McpWish;
  /** null: the server may not be asked from here. */
  readonly session: McpSession | null;
  readonly names: FunctionNames;
  /** What the operator allows of a configured server; null: everything. */
  readonly allowed: McpFilter | null;
  /** Which calls wait for a person. */
  readonly approval: McpApproval;
}

const NOTHING = {};

export class McpServerTool implements GatewayTool {
  readonly #input: McpServerToolInput;
  #functions: readonly FunctionTool[] = [];
  /** By the name that the model sees. */
  readonly #tools = new Map<string, McpTool>();
  readonly #namesOf = new Map<string, string>();
  #listing: Promise<JsonObject> | undefined;
  #listed: JsonObject | undefined;

  constructor(input: McpServerToolInput) {
    this.#input = input;
  }

  get label(): string {
    return this.#input.wish.label;
  }

  get functions(): readonly FunctionTool[] {
    return this.#functions;
  }

  /** The name under which the model sees a tool of the server; undefined for one that it is not offered. */
  functionOf(toolName: string): string | undefined {
    return this.#namesOf.get(toolName);
  }

  /** Takes the tools from an item of an earlier turn, so that the server is not asked again. */
  reuse(item: JsonObject): void {
    this.#listing = Promise.resolve(item);
    this.#offer(
      asArray(item['tools'])
        .filter(isJsonObject)
        .map((tool) => ({
          name: asString(tool['name']) ?? '',
          description: asString(tool['description']) ?? '',
          inputSchema: isJsonObject(tool['input_schema']) ? tool['input_schema'] : NOTHING,
          ...(isJsonObject(tool['annotations']) && { annotations: tool['annotations'] }),
        })),
    );
  }

  /** Asks the server once what it offers. Never rejects: without an answer the model has no tools of the server. */
  async list(signal: AbortSignal): Promise<void> {
    this.#listing ??= this.#list(signal);
    this.#listed = await this.#listing;
  }

  /** The item that tells what the server offers, without an id; undefined until it was asked. A failure is told in it. */
  get listed(): JsonObject | undefined {
    return this.#listed;
  }

  async #list(signal: AbortSignal): Promise<JsonObject> {
    const item = { type: 'mcp_list_tools', server_label: this.label };
    try {
      const tools = (await this.#session().listTools(signal)).filter((tool) => this.#isAllowed(tool));
      this.#offer(tools);
      return { ...item, tools: tools.map(listed), error: null };
    } catch (thrown) {
      return { ...item, tools: [], error: GatewayError.from(thrown).message };
    }
  }

  #offer(tools: readonly McpTool[]): void {
    const { names } = this.#input;
    const functions: FunctionTool[] = [];
    for (const tool of tools) {
      if (this.#namesOf.has(tool.name) || !this.#isAllowed(tool)) continue;
      const name = names.take(`${this.label}__${tool.name}`, `${this.label}\n${tool.name}`);
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
    const call = this.#call(tool?.name ?? name, text);
    if (!tool || !this.#needsApproval(tool)) return call;
    const { server_label, name: own, arguments: args } = call.item;
    return { ...call, approval: { type: 'mcp_approval_request', server_label, name: own, arguments: args } };
  }

  /** Ends the session with the server. Never rejects. */
  async close(): Promise<void> {
    await this.#input.session?.close();
  }

  #session(): McpSession {
    const { session } = this.#input;
    if (!session) throw new GatewayError('invalid_request', 'The server may not be asked from here.');
    return session;
  }

  /** A call that a person has allowed. */
  approved(request: JsonObject): GatewayCall {
    const call = this.#call(asString(request['name']) ?? '', asString(request['arguments']) ?? '');
    return { ...call, item: { ...call.item, approval_request_id: request['id'] ?? null } };
  }

  #call(toolName: string, text: string): GatewayCall {
    const item = {
      type: 'mcp_call',
      status: 'in_progress',
      server_label: this.label,
      name: toolName,
      arguments: text || '{}',
      approval_request_id: null,
      output: null,
      error: null,
    };
    return { item, approval: null, run: (signal) => this.#run(toolName, text, signal) };
  }

  async #run(toolName: string, text: string, signal: AbortSignal): Promise<CallOutcome> {
    const args = text.trim() === '' ? {} : parseJson(text);
    if (!isJsonObject(args)) return failed('The arguments are not a JSON object.');
    const { wish, allowed } = this.#input;
    if (!isNamed(toolName, wish.allowed) || !isNamed(toolName, allowed))
      return failed(`The tool ${toolName} is not allowed.`);
    let outcome: CallOutcome;
    try {
      outcome = outcomeOf(await this.#session().callTool(toolName, args, signal));
    } catch (thrown) {
      outcome = failed(GatewayError.from(thrown).message);
    }
    const output = outcome.parts.map(asText).join('\n');
    const { isError } = outcome;
    const facts = { type: 'mcp', server: this.label, name: toolName, input: args, output, isError } as const;
    return { ...outcome, facts };
  }

  #needsApproval(tool: McpTool): boolean {
    const { approval } = this.#input;
    if (typeof approval === 'string') return approval === 'always';
    // Who names a tool in both lists is asked.
    if (approval.always && matches(tool, approval.always)) return true;
    if (approval.never && matches(tool, approval.never)) return false;
    // What neither list names waits for a person, as the API's own default has it.
    return true;
  }
}

function matches(tool: McpTool, filter: McpFilter | null): boolean {
  if (!filter) return true;
  if (!isNamed(tool.name, filter)) return false;
  return filter.readOnly === undefined || (tool.annotations?.['readOnlyHint'] === true) === filter.readOnly;
}

function isNamed(name: string, filter: McpFilter | null): boolean {
  return (filter?.names?.includes(name) ?? true) && filter?.except?.includes(name) !== true;
}

function listed(tool: McpTool): JsonObject {
  const { name, description = null, inputSchema, annotations = null } = tool;
  return { name, description, input_schema: inputSchema, annotations };
}

// The errors are those of `McpToolCallError` in OpenAI's description of its API, 2026-11.

/** JSON-RPC 2.0, section 5.1: "Internal error", the code for whatever has none. */
const INTERNAL_ERROR = -32603;

/** No result came. */
function failed(message: string): CallOutcome {
  const error = { type: 'mcp_protocol_error', code: INTERNAL_ERROR, message };
  const parts: Part[] = [{ type: 'text', text: `The call failed: ${message}` }];
  return { item: { status: 'failed', error }, parts, isError: true, uses: NOTHING };
}

function outcomeOf(result: McpResult): CallOutcome {
  const parts = result.parts.flatMap(partsOf);
  // Servers repeat structured content as text; where one does not, the model must still read it.
  if (parts.length === 0 && result.structured)
    parts.push({ type: 'text', text: visibleText(JSON.stringify(result.structured)) });
  if (result.truncated) parts.push({ type: 'text', text: '[The result was cut: it is too long.]' });
  const output = parts.map(asText).join('\n');
  if (!result.isError) return { item: { status: 'completed', output }, parts, isError: false, uses: NOTHING };
  const content: JsonValue = parts.map((part) => ({ type: 'text', text: asText(part) }));
  const error: MutableJsonObject = { type: 'mcp_tool_execution_error', content };
  return { item: { status: 'failed', error }, parts, isError: true, uses: NOTHING };
}

function partsOf(content: McpContent): Part[] {
  switch (content.type) {
    case 'text':
      return [{ type: 'text', text: visibleText(content.text) }];
    case 'image': {
      const { data, mimeType } = content;
      return [{ type: 'image', media: { kind: 'base64', data, mediaType: mimeType } }];
    }
    case 'resource':
      return [
        { type: 'text', text: visibleText(content.text ?? JSON.stringify({ ...content, blob: undefined })) },
      ];
    default: {
      const { data: _, ...described } = { data: undefined, ...content };
      return [{ type: 'text', text: visibleText(JSON.stringify(described)) }];
    }
  }
}

function asText(part: Part): string {
  if (part.type === 'text') return part.text;
  return part.type === 'image' && part.media.kind === 'base64' ? `[image ${part.media.mediaType ?? ''}]` : '';
}
