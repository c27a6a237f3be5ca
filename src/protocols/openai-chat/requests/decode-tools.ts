// Decodes `tools` and `tool_choice`, and checks that they are consistent.
import { isJsonObject } from '../../../base/json/index.ts';
import { Problems, TEXTS } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { CustomTool, FunctionTool, Tool, ToolChoice } from '../../../canonical/index.ts';
import { decodeCacheControl } from './decode-parts.ts';
import {
  describe,
  readArray,
  readBoolean,
  readObject,
  readString,
  readOneOf,
  requireObject,
  requireString,
} from '../../members/read-member.ts';
import type { Member } from '../../members/read-member.ts';
import { readChosenTool, readHostedTool } from '../../members/read-hosted-tool.ts';
import {
  decodeCustomFormat,
  decodeParametersSchema,
  readToolName,
} from '../../members/decode-tool-members.ts';

/** Returns whether `tools` contains such a tool. Always true if `tools` is invalid. */
type IsTool = (kind: Tool['type'], name: string) => boolean;

/**
 * Decodes `tools`. Undocumented types are kept as hosted tools, because compatible servers have their own.
 * @returns the tools; empty for null and an empty list
 */
export function decodeTools(value: Member, problems: Problems): Tool[] {
  const tools: Tool[] = [];
  const names = new Set<string>();
  readArray(value, 'tools', problems)?.forEach((raw, index) => {
    const path = `tools[${index}]`;
    if (!isJsonObject(raw)) {
      problems.add(path, TEXTS.mustBeObject(describe(raw)));
      return;
    }
    const tool = decodeTool(raw, path, problems);
    if (!tool) return;
    tools.push(tool);
    if (tool.type === 'hosted') return;
    if (names.has(tool.name)) problems.add(`${path}.${tool.type}.name`, TEXTS.nameTaken);
    names.add(tool.name);
  });
  return tools;
}

/**
 * Decodes `tool_choice` and checks it against the tools.
 * @param tools the decoded tools; undefined: `tools` is invalid, so nothing can be checked
 */
export function decodeToolChoice(
  value: Member,
  tools: readonly Tool[] | undefined,
  problems: Problems,
): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') {
    // Mistral's value.
    const word = value === 'any' ? 'required' : value;
    const type = readOneOf(word, 'tool_choice', problems, ['none', 'auto', 'required'] as const);
    if (type === 'required' && tools?.length === 0) problems.add('tool_choice', 'requires tools');
    return type === undefined ? undefined : { type };
  }
  const raw = readObject(value, 'tool_choice', problems);
  if (!raw) return undefined;
  const known =
    tools && new Set(tools.map((tool) => `${tool.type} ${tool.type === 'hosted' ? tool.kind : tool.name}`));
  const isTool: IsTool = (kind, name) => known === undefined || known.has(`${kind} ${name}`);
  // Clients omit the type if another member implies it.
  const type =
    raw['type'] === undefined && (raw['function'] ?? raw['custom']) !== undefined
      ? raw['function'] === undefined
        ? 'custom'
        : 'function'
      : requireString(raw['type'], 'tool_choice.type', problems);
  if (type === undefined) return undefined;
  switch (type) {
    case 'function':
    case 'custom': {
      const body = requireObject(raw[type], `tool_choice.${type}`, problems);
      const path = `tool_choice.${type}.name`;
      const name = body && requireString(body['name'], path, problems);
      if (name === undefined) return undefined;
      if (!isTool(type, name)) {
        problems.add(path, TEXTS.toolNotListed(type));
      }
      return { type: 'tool', kind: type, name };
    }
    case 'allowed_tools':
      return decodeAllowed(raw, isTool, problems);
    default:
      if (!isTool('hosted', type)) {
        problems.add('tool_choice.type', TEXTS.mustBeChoice);
      }
      return decodeHostedChoice(raw);
  }
}

function decodeHostedChoice(raw: JsonObject): ToolChoice {
  const tool = readChosenTool(raw);
  const source = { protocol: 'openai-chat', raw } as const;
  return { type: 'hosted', source, ...(tool && { chosen: { mode: 'required', tools: [tool] } }) };
}

function decodeTool(raw: JsonObject, path: string, problems: Problems): Tool | undefined {
  // Some clients, such as those for Mistral, omit the type of function tools.
  const isBare = raw['type'] === undefined && raw['function'] !== undefined;
  const type = isBare ? 'function' : requireString(raw['type'], `${path}.type`, problems);
  const cache = decodeCacheControl(raw['cache_control'], `${path}.cache_control`, problems);
  if (type === undefined) return undefined;
  const base = { path, cache, source: { protocol: 'openai-chat', raw } } as const;
  // Compatible servers have tools with these names in other forms, which are left to them.
  if (type !== 'function' && type !== 'custom')
    return { ...base, type: 'hosted', kind: type, meaning: readHostedTool(type, raw, path, new Problems()) };
  const at = `${path}.${type}`;
  const body = requireObject(raw[type], at, problems);
  if (!body) return undefined;
  const name = readToolName(body['name'], `${at}.name`, problems);
  const description = readString(body['description'], `${at}.description`, problems);
  if (type === 'custom') {
    const format = decodeCustomFormat(body['format'], `${at}.format`, problems);
    return name === undefined
      ? undefined
      : ({ ...base, type, name, description, format } satisfies CustomTool);
  }
  const parameters = decodeParametersSchema(body['parameters'], `${at}.parameters`, problems);
  const strict = readBoolean(body['strict'], `${at}.strict`, problems);
  return name === undefined
    ? undefined
    : ({ ...base, type, name, description, parameters, strict } satisfies FunctionTool);
}

/** Accepts the form nested below `allowed_tools` (OpenAI) and the flat one; entries with and without their inner object. */
function decodeAllowed(raw: JsonObject, isTool: IsTool, problems: Problems): ToolChoice | undefined {
  const isNested = raw['allowed_tools'] !== undefined;
  const path = isNested ? 'tool_choice.allowed_tools' : 'tool_choice';
  const body = isNested ? readObject(raw['allowed_tools'], path, problems) : raw;
  if (!body) {
    if (raw['allowed_tools'] === null) problems.add(path, 'is required');
    return undefined;
  }
  const mode = readOneOf(body['mode'] ?? '', `${path}.mode`, problems, ['auto', 'required'] as const);
  const entries = readArray(body['tools'], `${path}.tools`, problems);
  if (!entries || entries.length === 0) problems.add(`${path}.tools`, TEXTS.mustNameTool);
  const names: string[] = [];
  entries?.forEach((entry, index) => {
    const name = decodeAllowedName(entry, `${path}.tools[${index}]`, isTool, problems);
    if (name !== undefined) names.push(name);
  });
  return mode === undefined ? undefined : { type: 'allowed', mode, names };
}

function decodeAllowedName(
  entry: Member,
  path: string,
  isTool: IsTool,
  problems: Problems,
): string | undefined {
  if (!isJsonObject(entry)) {
    problems.add(path, TEXTS.mustBeObject(describe(entry)));
    return undefined;
  }
  const type = readOneOf(entry['type'] ?? '', `${path}.type`, problems, ['function', 'custom'] as const);
  if (type === undefined) return undefined;
  const isNested = entry[type] !== undefined;
  const body = isNested ? requireObject(entry[type], `${path}.${type}`, problems) : entry;
  const at = isNested ? `${path}.${type}.name` : `${path}.name`;
  const name = body && requireString(body['name'], at, problems);
  if (name !== undefined && !isTool(type, name)) {
    problems.add(at, TEXTS.toolNotListed(type));
  }
  return name;
}
