// Decodes `tools` and `tool_choice` of a Messages request, and distinguishes client tools from hosted ones.
import {
  asArray,
  asObject,
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../base/json/index.ts';
import {
  type HostedMeaning,
  type HostedTool,
  type McpFilter,
  Problems,
  TEXTS,
  type Tool,
  type ToolChoice,
} from '../../../canonical/index.ts';
import { decodeParametersSchema } from '../../members/decode-tool-members.ts';
import {
  describe,
  type Member,
  readArray,
  readBoolean,
  readNumber,
  readObject,
  readString,
  readStrings,
  readOneOf,
  requireString,
} from '../../members/read-member.ts';
import { isSearchType, readPlace } from '../../members/read-hosted-tool.ts';
import { decodeCache } from './decode-parts.ts';
import { clientToolForm } from './client-tools.ts';
import { addTranslationLoss, type DecodeScope, messagesSource } from './decode-scope.ts';

/** Pattern that Anthropic names when it refuses a tool (API reference "Create a Message", `tools`, 2026-11). */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
/** Decodes `tools`. @param servers `mcp_servers`, to which tools of the type `mcp_toolset` refer */
export function decodeTools(value: Member, servers: Member, scope: DecodeScope): Tool[] {
  const tools: Tool[] = [];
  const names = new Set<string>();
  readArray(value, 'tools', scope.problems)?.forEach((raw, index) => {
    const path = `tools[${index}]`;
    if (!isJsonObject(raw)) {
      scope.problems.add(path, TEXTS.mustBeObject(describe(raw)));
      return;
    }
    const tool = decodeTool(raw, path, servers, scope);
    if (!tool) return;
    tools.push(tool);
    if (tool.type === 'hosted') return;
    if (names.has(tool.name)) scope.problems.add(`${path}.name`, TEXTS.nameTaken);
    names.add(tool.name);
  });
  return tools;
}

/** Decodes one tool, also one that a block defines. */
export function decodeTool(
  raw: JsonObject,
  path: string,
  servers: Member,
  scope: DecodeScope,
): Tool | undefined {
  const { problems } = scope;
  const type = readString(raw['type'], `${path}.type`, problems) ?? 'custom';
  const base = { path, cache: decodeCache(raw, path, scope), source: messagesSource(raw) } as const;
  const form = clientToolForm(type, raw);
  if (form) {
    const { description, parameters } = form;
    const name = readString(raw['name'], `${path}.name`, problems) ?? form.name;
    addTranslationLoss(scope, path, 'approximated', `the tool ${type} is sent as a function with its schema`);
    return { ...base, type: 'function', name, description, parameters };
  }
  // All other tools with a type of their own run at Anthropic.
  if (type !== 'custom')
    return {
      ...base,
      type: 'hosted',
      kind: type,
      meaning: readSearch(type, raw) ?? readToolset(type, raw, servers),
    } satisfies HostedTool;
  const name = requireString(raw['name'], `${path}.name`, problems);
  if (name !== undefined && !TOOL_NAME.test(name))
    problems.add(`${path}.name`, 'must be 1 to 128 letters, digits, underscores or dashes');
  const description = readString(raw['description'], `${path}.description`, problems);
  if (raw['input_schema'] === undefined || raw['input_schema'] === null)
    problems.add(`${path}.input_schema`, 'is required');
  const parameters = decodeParametersSchema(raw['input_schema'], `${path}.input_schema`, problems);
  const strict = readBoolean(raw['strict'], `${path}.strict`, problems);
  if (name === undefined) return undefined;
  return { ...base, type: 'function', name, description, parameters, strict };
}

/**
 * Reads `web_search_20250305` and its successors (documentation "Web search tool", 2026-11). Lenient, because members
 * may be added.
 */
function readSearch(type: string, raw: JsonObject): HostedTool['meaning'] {
  if (!isSearchType(type)) return undefined;
  const ignored = new Problems();
  const domains = (name: string): readonly string[] => readStrings(raw[name], name, ignored) ?? [];
  return {
    type: 'web_search',
    search: {
      userLocation: readPlace(raw['user_location'], 'user_location', ignored),
      allowedDomains: domains('allowed_domains'),
      blockedDomains: domains('blocked_domains'),
      maxUses: readNumber(raw['max_uses'], 'max_uses', ignored, { min: 0, integer: true }),
    },
  };
}

export interface DecodedChoice {
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelToolCalls?: boolean | undefined;
}

/**
 * Decodes `tool_choice` and checks it against the tools.
 * @param tools the decoded tools; undefined: they are invalid, so nothing can be checked
 */
export function decodeToolChoice(
  value: Member,
  tools: readonly Tool[] | undefined,
  scope: DecodeScope,
): DecodedChoice {
  const { problems } = scope;
  const raw = readObject(value, 'tool_choice', problems);
  if (!raw) return {};
  const words = ['auto', 'any', 'tool', 'none'] as const;
  // A name without a type selects a tool.
  const given = raw['type'] ?? (typeof raw['name'] === 'string' ? 'tool' : '');
  const type = readOneOf(given, 'tool_choice.type', problems, words);
  const path = 'tool_choice.disable_parallel_tool_use';
  const serial = readBoolean(raw['disable_parallel_tool_use'], path, problems);
  const name = type === 'tool' ? requireString(raw['name'], 'tool_choice.name', problems) : undefined;
  if (type === undefined) return {};
  if (tools?.length === 0) {
    // Choosing a tool is an error if there are none.
    if (type === 'any' || type === 'tool') problems.add('tool_choice', 'requires tools');
    return {};
  }
  const parallelToolCalls = serial === true ? false : undefined;
  switch (type) {
    case 'auto':
    case 'none':
      return { toolChoice: { type }, parallelToolCalls };
    case 'any':
      return { toolChoice: { type: 'required' }, parallelToolCalls };
    case 'tool':
      if (name === undefined) return {};
      return { toolChoice: chooseTool(raw, name, tools ?? [], scope), parallelToolCalls };
  }
}

/** Keeps the choice of a hosted tool in Anthropic's own form. Tools of a toolset have names of their own. */
function chooseTool(raw: JsonObject, name: string, tools: readonly Tool[], scope: DecodeScope): ToolChoice {
  const isClients = tools.some((tool) => tool.type !== 'hosted' && tool.name === name);
  if (isClients || tools.length === 0) return { type: 'tool', kind: 'function', name };
  if (!tools.some((tool) => tool.type === 'hosted'))
    scope.problems.add('tool_choice.name', 'names a tool that is not in tools');
  const isSearch = tools.some(
    (tool) =>
      tool.type === 'hosted' && tool.meaning?.type === 'web_search' && tool.source.raw['name'] === name,
  );
  return {
    type: 'hosted',
    source: messagesSource(raw),
    ...(isSearch && { chosen: { mode: 'required', tools: [{ type: 'web_search' }] } }),
  };
}

// Remote MCP servers in Anthropic's form: the servers in one member, and a tool per server that configures which of its
// tools may be used (documentation "MCP connector", version 2025-11-20). Lenient, because Anthropic validates them.

/**
 * Returns the capability of a tool of the type `mcp_toolset`; undefined for other tools, and for a server that the
 * request does not list.
 */
function readToolset(
  type: string,
  tool: JsonObject,
  servers: JsonValue | undefined,
): HostedMeaning | undefined {
  if (type !== 'mcp_toolset') return undefined;
  const label = asString(tool['mcp_server_name']);
  const server = asArray(servers)
    .map(asObject)
    .find((each) => each['name'] === label);
  const url = asString(server?.['url']);
  if (label === undefined || !server || url === undefined) return undefined;
  return {
    type: 'mcp',
    mcp: {
      label,
      url,
      authorization: asString(server['authorization_token']),
      allowed: readConfigs(tool),
      // The protocol has no approval requests.
      approval: 'never',
      member: 'mcp_servers',
    },
  };
}

/** Reads `default_config` and `configs`; null: all tools may be used. Tools are enabled by default. */
function readConfigs(tool: JsonObject): McpFilter | null {
  const isOn = (config: JsonValue | undefined, otherwise: boolean): boolean =>
    isJsonObject(config) && typeof config['enabled'] === 'boolean' ? config['enabled'] : otherwise;
  const byDefault = isOn(tool['default_config'], true);
  const configs = Object.entries(asObject(tool['configs']));
  const named = configs.filter(([, config]) => isOn(config, byDefault) !== byDefault).map(([name]) => name);
  if (byDefault) return named.length === 0 ? null : { except: named };
  return { names: named };
}
