// Rewrites a Responses request for upstreams without its tools: client tools become functions, and groups of tools
// become single ones. Renamed tools are remembered for `tool-restorer.ts`, which restores them in the answer.
import { asArray, asObject, asString, isJsonObject } from '../../../base/json/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type {
  CanonicalRequest,
  CustomTool,
  FunctionTool,
  HostedCallItem,
  HostedTool,
  Item,
  ProtocolName,
  Report,
  Tool,
  ToolCallItem,
  ToolChoice,
} from '../../../canonical/index.ts';
import { clientToolOf, clientToolOfCall, clientToolOfOutput, type ClientTool } from './client-tools.ts';
import { members, type MemberShape } from '../../members/member-shape.ts';
import { CUSTOM_SHAPE, FUNCTION_SHAPE } from '../member-shapes.ts';
import { UnansweredCalls } from './unanswered-calls.ts';

/** Tool that a function replaces. */
export type ReplacedTool =
  | { readonly type: 'client'; readonly tool: ClientTool }
  | { readonly type: 'grouped'; readonly namespace: string; readonly name: string };

export interface PortableRequest {
  readonly request: CanonicalRequest;
  /** Tools by the function names that the model sees; empty if nothing has to be restored. */
  readonly replacedTools: ReadonlyMap<string, ReplacedTool>;
}

/** Maximum length of a tool name that every upstream accepts. */
const LONGEST_NAME = 64;
const NO_FIELD = 'the function that replaces the tool has no equivalent field';
const CLIENT_TOOL = members('type');
const GROUP = members('type name tools');
const NO_TOOLS: ReadonlyMap<string, ReplacedTool> = new Map();

/**
 * Rewrites a Responses request for an upstream that does not run or know its tools.
 * @param upstream its protocol, and whether it follows the owner's definition: then a request of the same protocol is
 * unchanged
 */
export function portableRequest(
  request: CanonicalRequest,
  upstream: { readonly protocol: ProtocolName; readonly faithful: boolean },
  report: Report,
): PortableRequest {
  const isSame = upstream.protocol === request.protocol;
  if (isSame && upstream.faithful) return { request, replacedTools: NO_TOOLS };
  const names = new ToolNames(request.tools);
  const tools = request.tools.flatMap((tool) => portableTool(tool, names, report));
  const history = new History(names, report);
  const items = request.items.map((item) => history.portable(item));
  const toolChoice = request.toolChoice && portableChoice(request.toolChoice, names);
  return { request: { ...request, tools, items, toolChoice }, replacedTools: names.replacedTools };
}

/** Names of the replacing functions, which are unique. */
class ToolNames {
  readonly replacedTools = new Map<string, ReplacedTool>();
  readonly #taken: Set<string>;
  readonly #byKey = new Map<string, string>();

  constructor(tools: readonly Tool[]) {
    this.#taken = new Set(tools.flatMap((tool) => (tool.type === 'hosted' ? [] : [tool.name])));
  }

  ofClient(tool: ClientTool): string {
    return this.#name(tool.name, tool.name, { type: 'client', tool });
  }

  ofGrouped(namespace: string, name: string): string {
    return this.#name(`${namespace}\n${name}`, `${namespace}__${name}`, { type: 'grouped', namespace, name });
  }

  /** Returns the function for a tool that is named without its group. */
  ofBare(name: string): string {
    if (this.#taken.has(name) && !this.replacedTools.has(name)) return name;
    for (const [alias, replaced] of this.replacedTools)
      if (replaced.type === 'grouped' && replaced.name === name) return alias;
    return name;
  }

  #name(key: string, wanted: string, replaced: ReplacedTool): string {
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const legal = wanted.replace(/[^\w-]/g, '_').slice(0, LONGEST_NAME);
    let name = legal;
    for (let n = 2; this.#taken.has(name); n++) name = `${legal.slice(0, LONGEST_NAME - 4)}_${n}`;
    this.#taken.add(name);
    this.#byKey.set(key, name);
    this.replacedTools.set(name, replaced);
    return name;
  }
}

function portableTool(tool: Tool, names: ToolNames, report: Report): readonly Tool[] {
  if (tool.type !== 'hosted') return [tool];
  if (tool.kind === 'namespace') return ungrouped(tool, names, report);
  const client = clientToolOf(tool.kind);
  if (!client) return [tool];
  if (tool.path !== undefined) {
    report.add(tool.path, 'approximated', `the tool ${tool.kind} is sent as a function`);
    const { raw } = tool.source;
    const { environment, ...rest } = raw;
    // The client runs the function locally anyway.
    const isLocal = asObject(environment)['type'] === 'local';
    reportRest(isLocal ? rest : raw, CLIENT_TOOL, tool.path, report);
  }
  const { description, parameters } = client;
  return [{ type: 'function', name: names.ofClient(client), description, parameters, path: tool.path }];
}

/** Reports members of a tool that the replacing function cannot express. */
function reportRest(raw: JsonObject, { known }: MemberShape, path: string, report: Report): void {
  for (const [name, value] of Object.entries(raw))
    if (!known.has(name) && value !== null) report.add(`${path}.${name}`, 'dropped', NO_FIELD);
}

/** Returns the tools of a group, each under a name with the group's name as prefix. */
function ungrouped(group: HostedTool, names: ToolNames, report: Report): readonly Tool[] {
  const { raw } = group.source;
  const namespace = asString(raw['name']) ?? '';
  const tools: (FunctionTool | CustomTool)[] = [];
  asArray(raw['tools']).forEach((each, index) => {
    if (!isJsonObject(each)) return;
    const path = `${group.path ?? 'tools'}.tools[${index}]`;
    const tool = grouped(each, names, namespace, path);
    if (tool) {
      tools.push(tool);
      reportRest(each, tool.type === 'function' ? FUNCTION_SHAPE : CUSTOM_SHAPE, path, report);
    } else
      report.add(path, 'dropped', `a tool of type ${String(each['type'])} cannot be sent outside its group`);
  });
  if (group.path !== undefined) {
    report.add(group.path, 'approximated', `the tools of ${namespace} are sent under longer names`);
    reportRest(raw, GROUP, group.path, report);
  }
  return tools;
}

function grouped(
  raw: JsonObject,
  names: ToolNames,
  namespace: string,
  path: string,
): FunctionTool | CustomTool | undefined {
  const own = asString(raw['name']);
  if (own === undefined) return undefined;
  const description = asString(raw['description']);
  switch (raw['type']) {
    case 'function': {
      const parameters = isJsonObject(raw['parameters']) ? raw['parameters'] : undefined;
      const strict = typeof raw['strict'] === 'boolean' ? raw['strict'] : undefined;
      const name = names.ofGrouped(namespace, own);
      return { type: 'function', name, description, parameters, strict, path };
    }
    case 'custom': {
      const format = isJsonObject(raw['format']) ? raw['format'] : undefined;
      return { type: 'custom', name: names.ofGrouped(namespace, own), description, format, path };
    }
    default:
      return undefined;
  }
}

function portableChoice(choice: ToolChoice, names: ToolNames): ToolChoice {
  switch (choice.type) {
    case 'tool':
      return { ...choice, name: names.ofBare(choice.name) };
    case 'allowed':
      return { ...choice, names: choice.names.map((name) => names.ofBare(name)) };
    case 'hosted': {
      const { raw } = choice.source;
      const client = clientToolOf(String(raw['type']));
      if (client) return { type: 'tool', kind: 'function', name: names.ofClient(client) };
      if (raw['type'] !== 'allowed_tools') return choice;
      const allowed = asArray(raw['tools']).flatMap((entry) => allowedName(entry, names));
      const mode = raw['mode'] === 'required' ? 'required' : 'auto';
      return allowed.length === 0 ? choice : { type: 'allowed', mode, names: allowed };
    }
    default:
      return choice;
  }
}

function allowedName(entry: unknown, names: ToolNames): readonly string[] {
  if (!isJsonObject(entry)) return [];
  const client = clientToolOf(String(entry['type']));
  if (client) return [names.ofClient(client)];
  const name = asString(entry['name']);
  const isNamed = entry['type'] === 'function' || entry['type'] === 'custom';
  return name !== undefined && isNamed ? [names.ofBare(name)] : [];
}

/** Rewrites the items of a conversation, in order, so that outputs find their calls. */
class History {
  readonly #names: ToolNames;
  readonly #report: Report;
  /** Calls without an output, by type of the output. */
  readonly #unanswered = new Map<string, UnansweredCalls>();
  #made = 0;

  constructor(names: ToolNames, report: Report) {
    this.#names = names;
    this.#report = report;
  }

  portable(item: Item): Item {
    switch (item.type) {
      case 'tool_call':
        return item.namespace === undefined ? item : this.#ungrouped(item, item.namespace);
      case 'hosted_call':
        return this.#hosted(item);
      default:
        return item;
    }
  }

  #ungrouped(item: ToolCallItem, namespace: string): Item {
    const { source: _, namespace: __, ...call } = item;
    return { ...call, name: this.#names.ofGrouped(namespace, item.name) };
  }

  #hosted(item: HostedCallItem): Item {
    if (!item.source || !isOwn(item)) return item;
    const { raw } = item.source;
    const { path } = item;
    const called = clientToolOfCall(item.kind);
    if (called) {
      this.#reportUnsent(called, raw, path);
      const callId = asString(raw['call_id']) || item.id || `call_${called.name}_${++this.#made}`;
      this.#waiting(called.outputType).add(callId, item.id);
      return {
        type: 'tool_call',
        kind: 'function',
        callId,
        name: this.#names.ofClient(called),
        arguments: JSON.stringify(called.argumentsOf(raw)),
        path,
      };
    }
    const answered = clientToolOfOutput(item.kind);
    if (answered) {
      this.#reportUnsent(answered, raw, path);
      const callId = this.#waiting(item.kind).answer(asString(raw['call_id']), item.id);
      const name = this.#names.ofClient(answered);
      return { type: 'tool_result', kind: 'function', callId, name, ...answered.outputOf(raw), path };
    }
    return item;
  }

  #reportUnsent(tool: ClientTool, raw: JsonObject, path: string | undefined): void {
    if (path === undefined) return;
    for (const name of tool.unsentOf?.(raw) ?? []) this.#report.add(`${path}.${name}`, 'dropped', NO_FIELD);
  }

  #waiting(outputType: string): UnansweredCalls {
    let waiting = this.#unanswered.get(outputType);
    if (!waiting) this.#unanswered.set(outputType, (waiting = new UnansweredCalls()));
    return waiting;
  }
}

function isOwn(item: { readonly source?: { readonly protocol: ProtocolName } | undefined }): boolean {
  return item.source?.protocol === 'openai-responses';
}
