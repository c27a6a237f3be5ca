// Renders parts that the upstream's protocol cannot express as text for the model, with a report, so that no part of a
// conversation is lost silently. Refuses requests whose meaning would change, such as an unknown part of a user message
// or a compacted conversation. Unknown tools are dropped with a report, unless one is the only tool or must be called.
import { asString } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type {
  CanonicalRequest,
  FilePart,
  HostedTool,
  Item,
  MessageItem,
  Part,
  ProtocolName,
  Report,
  Role,
  TextPart,
  ToolChoice,
} from '../../canonical/index.ts';
import { cutText } from '../../base/lib/cut-text.ts';

/** Target of the conversation. */
export interface Listener {
  readonly protocol: ProtocolName;
  /** True: the server follows the protocol as its owner defines it. */
  readonly faithful: boolean;
  /** Kinds of hosted tools that this server runs, among those that only the protocol's owner offers. */
  readonly hostedTools: ReadonlySet<string>;
  /** Roles whose messages can only hold text. */
  readonly textOnly: ReadonlySet<Role>;
}

/** Maximum characters of JSON that are rendered for an unknown part. */
const LONGEST_RENDERED = 2_000;

/** Items that instruct the server. They cannot be rendered as text. */
const ORDERS: ReadonlySet<string> = new Set(['compaction_trigger']);

/** OpenAI tools that only its own servers run. Other servers ignore them. */
const OWNERS_TOOLS: ReadonlySet<string> = new Set(['code_interpreter', 'file_search', 'image_generation']);
/** Documented tool types. Their encoders report that they are dropped. */
const DOCUMENTED: ReadonlySet<string> = new Set([...OWNERS_TOOLS, 'mcp', 'tool_search']);

/**
 * Returns the request with every part either supported by the upstream or rendered as text.
 * @throws GatewayError `unsupported` naming an unknown part of a user message, a compacted conversation that the
 * upstream cannot read, or an unknown tool that is the only one or must be called
 */
export function renderForeign(given: CanonicalRequest, listener: Listener, report: Report): CanonicalRequest {
  if (isPlain(given)) return given;
  refuseUnknownTool(given, listener);
  const request = withoutOwnersTools(given, listener, report);
  // Text after the last user message or tool result is rendered as a user message; the model would continue an
  // assistant message.
  let lastReceived = -1;
  let items: Item[] | undefined;
  request.items.forEach((item, index) => {
    if (item.type === 'tool_result' || (item.type === 'message' && item.role !== 'assistant'))
      lastReceived = index;
  });
  request.items.forEach((item, index) => {
    const shown = renderedItem(item, index < lastReceived, listener, report);
    if (shown !== item && !items) items = request.items.slice(0, index);
    items?.push(shown);
  });
  return items ? { ...request, items } : request;
}

/** True if every protocol can express all items and tools. Fast path: nearly all requests are. */
function isPlain({ items, tools }: CanonicalRequest): boolean {
  for (const { type } of tools) if (type !== 'function' && type !== 'custom') return false;
  for (const item of items) {
    switch (item.type) {
      case 'message':
      case 'tool_result':
        for (const part of item.parts) if (part.type !== 'text') return false;
        break;
      case 'tool_call':
      case 'reasoning':
        break;
      default:
        return false;
    }
  }
  return true;
}

/** @param isAnswered true if a user message or tool result follows */
function renderedItem(item: Item, isAnswered: boolean, listener: Listener, report: Report): Item {
  switch (item.type) {
    case 'message':
      return renderedMessage(item, listener, report);
    case 'tool_result': {
      const given = withContexts(item.parts, item.path, listener, report);
      const parts = renderedParts(given, (part) => renderedPart(part, item.path, listener, report));
      return parts === item.parts ? item : { ...item, parts, source: undefined };
    }
    case 'compaction':
      if (item.source?.protocol === listener.protocol && listener.faithful) return item;
      throw new GatewayError(
        'unsupported',
        `${item.path ?? 'input'}: this compacted conversation can be read only by the provider that created it`,
        { param: item.path },
      );
    case 'hosted_call':
      // Lists of MCP tools are protocol data, not part of the conversation.
      if (!item.source || item.source.protocol === listener.protocol || item.facts?.type === 'mcp_tools')
        return item;
      return rendered(item, item.kind, hostedWords(item.kind, item.source.raw), isAnswered, report);
    case 'unknown': {
      const { protocol, raw } = item.source;
      const type = typeOf(raw);
      // Reasoning is handled separately: it is sent to models that can read it.
      if (protocol === listener.protocol || type.startsWith('reasoning.')) return item;
      if (ORDERS.has(type))
        throw new GatewayError('unsupported', `${item.path ?? 'input'}: ${type} is not allowed here`, {
          param: item.path,
        });
      return rendered(item, type, words(raw), isAnswered, report);
    }
    default:
      return item;
  }
}

function rendered(
  { path }: Item,
  type: string,
  content: string,
  isAnswered: boolean,
  report: Report,
): MessageItem {
  if (path !== undefined) report.add(path, 'approximated', `an earlier ${type} is sent to the model as text`);
  const part: TextPart = { type: 'text', text: `[${type}] ${content}` };
  return { type: 'message', role: isAnswered ? 'assistant' : 'user', parts: [part], path };
}

/** Returns the text for a hosted call. Image bytes and encrypted members are left out. */
function hostedWords(kind: string, raw: JsonObject): string {
  const { id: _, type: __, status: ___, ...rest } = raw;
  const isPicture = kind === 'image_generation_call';
  return JSON.stringify(rest, (name, value: unknown) =>
    name.startsWith('encrypted_') || (isPicture && name === 'result') ? undefined : value,
  );
}

/** Returns an unknown part as JSON, cut to a maximum length. */
function words(raw: JsonObject): string {
  return cutText(JSON.stringify(raw), LONGEST_RENDERED);
}

function typeOf(raw: JsonObject): string {
  return asString(raw['type']) ?? Object.keys(raw)[0] ?? 'unknown';
}

function renderedMessage(item: MessageItem, listener: Listener, report: Report): MessageItem {
  const isModels = item.role === 'assistant';
  const isTextOnly = listener.textOnly.has(item.role);
  const given = withContexts(item.parts, item.path, listener, report);
  const parts = renderedParts(given, (part) => {
    if (part.type === 'unknown') {
      if (part.source.protocol === listener.protocol) return part;
      if (isModels) return renderedPart(part, item.path, listener, report);
      throw refused(
        part,
        item.path,
        `only ${part.source.protocol} supports parts of type ${typeOf(part.source.raw)}`,
      );
    }
    if (!isTextOnly || (part.type !== 'image' && part.type !== 'file')) return part;
    const what = part.type === 'image' ? 'an image' : 'a file';
    if (!isModels) throw refused(part, item.path, `instructions for this model cannot contain ${what}`);
    const path = part.path ?? item.path;
    if (path !== undefined)
      report.add(path, 'approximated', `${what} of an earlier response is replaced by a text`);
    return { type: 'text', text: `[${part.type}]`, path: part.path };
  });
  // The raw form would still contain the parts that are rendered as text.
  return parts === item.parts ? item : { ...item, parts, source: undefined };
}

function refused(part: Part, path: string | undefined, why: string): GatewayError {
  const param = part.path ?? path;
  return new GatewayError('unsupported', param === undefined ? why : `${param}: ${why}`, { param });
}

function renderedPart(part: Part, path: string | undefined, listener: Listener, report: Report): Part {
  if (part.type !== 'unknown' || part.source.protocol === listener.protocol) return part;
  const type = typeOf(part.source.raw);
  const at = part.path ?? path;
  if (at !== undefined) report.add(at, 'approximated', `a part of type ${type} is sent to the model as text`);
  return { type: 'text', text: `[${type}] ${words(part.source.raw)}`, path: part.path };
}

/** Adds a text before each file about which the client says something: files of other protocols have no place for it. */
function withContexts(
  parts: readonly Part[],
  path: string | undefined,
  { protocol }: Listener,
  report: Report,
): readonly Part[] {
  const hasContext = (part: Part): part is FilePart & { readonly context: string } =>
    part.type === 'file' && part.context !== undefined && part.source?.protocol !== protocol;
  if (!parts.some(hasContext)) return parts;
  return parts.flatMap((part): readonly Part[] => {
    if (!hasContext(part)) return [part];
    const at = part.path ?? path;
    if (at !== undefined)
      report.add(`${at}.context`, 'approximated', 'the context of a document is sent as a text before it');
    const { context, ...file } = part;
    return [{ type: 'text', text: context, path: part.path }, file];
  });
}

/** Returns the same array if nothing changes. */
function renderedParts(parts: readonly Part[], render: (part: Part) => Part): readonly Part[] {
  let changed: Part[] | undefined;
  parts.forEach((part, index) => {
    const next = render(part);
    if (next !== part && !changed) changed = parts.slice(0, index);
    changed?.push(next);
  });
  return changed ?? parts;
}

/** Drops, with a report, the owner's tools that a merely compatible server does not run. */
function withoutOwnersTools(
  request: CanonicalRequest,
  { protocol, hostedTools }: Listener,
  report: Report,
): CanonicalRequest {
  const tools = request.tools.filter((tool) => {
    if (tool.type !== 'hosted' || !OWNERS_TOOLS.has(tool.kind)) return true;
    if (tool.source.protocol === protocol && hostedTools.has(tool.kind)) return true;
    const path = tool.path ?? 'tools';
    if (forces(request.toolChoice, tool))
      throw new GatewayError('unsupported', `tool_choice: no upstream of this model runs ${tool.kind}`, {
        param: 'tool_choice',
      });
    report.add(path, 'dropped', `this upstream does not run the tool ${tool.kind}`);
    return false;
  });
  if (tools.length === request.tools.length) return request;
  const { toolChoice } = request;
  const hasNoEffect = tools.length === 0 && toolChoice !== undefined;
  if (hasNoEffect && toolChoice.type !== 'auto' && toolChoice.type !== 'none')
    report.add('tool_choice', 'dropped', TEXTS.noToolToChoose);
  return { ...request, tools, toolChoice: hasNoEffect ? undefined : toolChoice };
}

/** Refuses unknown tools that the answer depends on. Encoders report other tools that their protocol does not have. */
function refuseUnknownTool({ tools, toolChoice }: CanonicalRequest, { protocol }: Listener): void {
  const isUnknown = (tool: HostedTool): boolean =>
    tool.source.protocol !== protocol && tool.meaning === undefined && !DOCUMENTED.has(tool.kind);
  for (const tool of tools) {
    if (tool.type !== 'hosted' || !isUnknown(tool)) continue;
    if (tools.length > 1 && !forces(toolChoice, tool)) continue;
    const param = tool.path ?? 'tools';
    const why = tools.length > 1 ? 'must be called' : 'is the only tool';
    throw new GatewayError(
      'unsupported',
      `${param}: no upstream of this model supports the tool ${tool.kind}, which ${why}`,
      {
        param,
      },
    );
  }
}

function forces(choice: ToolChoice | undefined, { kind, source }: HostedTool): boolean {
  if (choice?.type !== 'hosted') return false;
  const { raw } = choice.source;
  return raw['type'] === kind || (raw['name'] !== undefined && raw['name'] === source.raw['name']);
}
