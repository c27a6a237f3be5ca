// Renders parts that the upstream's protocol cannot express as text for the model, with a report: no part of a
// conversation vanishes. Without what a person said or a summary stands for, the question would be another one:
// that is refused by name. Tools that nobody knows go with a report, unless the answer hangs on them. Knows no
// protocol's forms beyond the names of their types.
import { asString } from '../base/json/index.ts';
import { GatewayError, TEXTS } from '../canonical/index.ts';
import type { JsonObject } from '../base/json/index.ts';
import type {
  CanonicalRequest,
  HostedTool,
  Item,
  MessageItem,
  Part,
  ProtocolName,
  Report,
  Role,
  TextPart,
  ToolChoice,
} from '../canonical/index.ts';
import { cutText } from '../base/lib/cut-text.ts';

/** Protocol that the conversation is for. */
export interface Listener {
  readonly protocol: ProtocolName;
  /** True: it follows the protocol as its owner defines it. */
  readonly faithful: boolean;
  /** Kinds of the tools that it runs itself, of those that its protocol's owner alone has. */
  readonly hostedTools: ReadonlySet<string>;
  /** Roles whose messages hold text alone. */
  readonly textOnly: ReadonlySet<Role>;
}

/** Characters of JSON that are told of what nobody knows. */
const LONGEST_RENDERED = 2_000;

/** Items that ask for something of the server itself: they mean nothing in words. */
const ORDERS: ReadonlySet<string> = new Set(['compaction_trigger']);

/** Tools of OpenAI's that only its own servers run: asked of anybody else they have no effect. */
const OWNERS_TOOLS: ReadonlySet<string> = new Set(['code_interpreter', 'file_search', 'image_generation']);
/** Types that the documentation of some protocol has: their loss is reported. */
const DOCUMENTED: ReadonlySet<string> = new Set([...OWNERS_TOOLS, 'mcp', 'tool_search']);

/**
 * The request with everything in it that its upstream can carry or be told.
 * @throws GatewayError `unsupported` naming an unknown part of a person's message, a compacted conversation that nobody
 *   there can open, or an unknown tool that is the only one or must be called
 */
export function renderForeign(given: CanonicalRequest, listener: Listener, report: Report): CanonicalRequest {
  if (isPlain(given)) return given;
  refuseUnknownTool(given, listener);
  const request = withoutOwnersTools(given, listener, report);
  // Text behind everything that the model read last would be the beginning of its answer.
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

/** True for texts, calls and tools that every protocol has words for: nearly all requests, asked at each of them. */
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

/** @param isAnswered true when something follows that the model has to answer */
function renderedItem(item: Item, isAnswered: boolean, listener: Listener, report: Report): Item {
  switch (item.type) {
    case 'message':
      return renderedMessage(item, listener, report);
    case 'tool_result': {
      const parts = renderedParts(item.parts, (part) => renderedPart(part, item.path, listener, report));
      return parts === item.parts ? item : { ...item, parts, source: undefined };
    }
    case 'compaction':
      if (item.source?.protocol === listener.protocol && listener.faithful) return item;
      throw new GatewayError(
        'unsupported',
        `${item.path ?? 'input'}: this compacted conversation can be read only where it was made`,
        { param: item.path },
      );
    case 'hosted_call':
      // Lists of tools are between a server and a gateway: no part of what was said.
      if (!item.source || item.source.protocol === listener.protocol || item.facts?.type === 'mcp_tools')
        return item;
      return rendered(item, item.kind, hostedWords(item.kind, item.source.raw), isAnswered, report);
    case 'unknown': {
      const { protocol, raw } = item.source;
      const type = typeOf(raw);
      // Reasoning has rules of its own: it goes to those who can read it.
      if (protocol === listener.protocol || type.startsWith('reasoning.')) return item;
      if (ORDERS.has(type))
        throw new GatewayError('unsupported', `${item.path ?? 'input'}: ${type} cannot stand here`, {
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
  if (path !== undefined)
    report.add(path, 'approximated', `an earlier ${type} is given to the model as text`);
  const part: TextPart = { type: 'text', text: `[${type}] ${content}` };
  return { type: 'message', role: isAnswered ? 'assistant' : 'user', parts: [part], path };
}

/** Words for what an upstream did by itself. The bytes of a picture, and what is encrypted, are no words. */
function hostedWords(kind: string, raw: JsonObject): string {
  const { id: _, type: __, status: ___, ...rest } = raw;
  const isPicture = kind === 'image_generation_call';
  return JSON.stringify(rest, (name, value: unknown) =>
    name.startsWith('encrypted_') || (isPicture && name === 'result') ? undefined : value,
  );
}

/** As much of something unknown as is worth telling. */
function words(raw: JsonObject): string {
  return cutText(JSON.stringify(raw), LONGEST_RENDERED);
}

function typeOf(raw: JsonObject): string {
  return asString(raw['type']) ?? Object.keys(raw)[0] ?? 'unknown';
}

function renderedMessage(item: MessageItem, listener: Listener, report: Report): MessageItem {
  const isModels = item.role === 'assistant';
  const isTextOnly = listener.textOnly.has(item.role);
  const parts = renderedParts(item.parts, (part) => {
    if (part.type === 'unknown') {
      if (part.source.protocol === listener.protocol) return part;
      if (isModels) return renderedPart(part, item.path, listener, report);
      throw refused(
        part,
        item.path,
        `only ${part.source.protocol} knows a part of type ${typeOf(part.source.raw)}`,
      );
    }
    if (!isTextOnly || (part.type !== 'image' && part.type !== 'file')) return part;
    const what = part.type === 'image' ? 'an image' : 'a file';
    if (!isModels) throw refused(part, item.path, `instructions cannot hold ${what} for this model`);
    const path = part.path ?? item.path;
    if (path !== undefined)
      report.add(path, 'approximated', `${what} of an earlier answer is told in words: it is not sent`);
    return { type: 'text', text: `[${part.type}]`, path: part.path };
  });
  // The raw form still has what is told in words.
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
  if (at !== undefined)
    report.add(at, 'approximated', `a part of type ${type} is given to the model as text`);
  return { type: 'text', text: `[${type}] ${words(part.source.raw)}`, path: part.path };
}

/** The list itself where nothing changes. */
function renderedParts(parts: readonly Part[], render: (part: Part) => Part): readonly Part[] {
  let changed: Part[] | undefined;
  parts.forEach((part, index) => {
    const next = render(part);
    if (next !== part && !changed) changed = parts.slice(0, index);
    changed?.push(next);
  });
  return changed ?? parts;
}

/** Leaves out, with a report, what a server that merely speaks the owner's protocol does not run. */
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
    report.add(path, 'dropped', `the tool ${tool.kind} is not run by this upstream and has no effect`);
    return false;
  });
  if (tools.length === request.tools.length) return request;
  const { toolChoice } = request;
  const isMoot = tools.length === 0 && toolChoice !== undefined;
  if (isMoot && toolChoice.type !== 'auto' && toolChoice.type !== 'none')
    report.add('tool_choice', 'dropped', TEXTS.noToolToChoose);
  return { ...request, tools, toolChoice: isMoot ? undefined : toolChoice };
}

/** Encoders report tools that their protocol does not have; an answer that hangs on one would be no answer. */
function refuseUnknownTool({ tools, toolChoice }: CanonicalRequest, { protocol }: Listener): void {
  const isUnknown = (tool: HostedTool): boolean =>
    tool.source.protocol !== protocol && tool.meaning === undefined && !DOCUMENTED.has(tool.kind);
  for (const tool of tools) {
    if (tool.type !== 'hosted' || !isUnknown(tool)) continue;
    if (tools.length > 1 && !forces(toolChoice, tool)) continue;
    const param = tool.path ?? 'tools';
    const why = tools.length > 1 ? 'must be called' : 'is the only one';
    throw new GatewayError(
      'unsupported',
      `${param}: no upstream of this model has the tool ${tool.kind}, which ${why}`,
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
