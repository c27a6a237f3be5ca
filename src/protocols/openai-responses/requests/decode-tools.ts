// Decodes `tools` and `tool_choice` in the flat form of the Responses API, and checks that they are consistent.
import { isJsonObject } from '../../../base/json/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import {
  type ChosenTool,
  type Problems,
  type Tool,
  type ToolChoice,
  TEXTS,
} from '../../../canonical/index.ts';
import {
  decodeCustomFormat,
  decodeParametersSchema,
  readToolName,
} from '../../members/decode-tool-members.ts';
import {
  POSITIVE,
  describe,
  readArray,
  readBoolean,
  readNumber,
  readObject,
  readString,
  readOneOf,
  requireString,
} from '../../members/read-member.ts';
import type { Member } from '../../members/read-member.ts';
import { isSearchType, readChosenTool, readHostedTool } from '../../members/read-hosted-tool.ts';
import { sourceOf } from '../decode-item.ts';

const ENVIRONMENTS = ['browser', 'mac', 'windows', 'ubuntu', 'linux'] as const;

/** Decodes `tools`. Empty for null and an empty list. */
export function decodeTools(value: Member, problems: Problems): Tool[] {
  const tools: Tool[] = [];
  const names = new Set<string>();
  readArray(value, 'tools', problems)?.forEach((raw, index) => {
    const path = `tools[${index}]`;
    const tool = decodeTool(raw, path, problems);
    if (!tool) return;
    tools.push(tool);
    if (tool.type === 'hosted') return;
    if (names.has(tool.name)) problems.add(`${path}.name`, TEXTS.nameTaken);
    names.add(tool.name);
  });
  return tools;
}

function decodeTool(raw: Member, path: string, problems: Problems): Tool | undefined {
  if (!isJsonObject(raw)) {
    problems.add(path, TEXTS.mustBeObject(describe(raw)));
    return undefined;
  }
  const type = requireString(raw['type'], `${path}.type`, problems);
  if (type === undefined) return undefined;
  const base = { path, source: sourceOf(raw) } as const;
  switch (type) {
    case 'function': {
      const name = readToolName(raw['name'], `${path}.name`, problems);
      const description = readString(raw['description'], `${path}.description`, problems);
      const parameters = decodeParametersSchema(raw['parameters'], `${path}.parameters`, problems);
      const strict = readBoolean(raw['strict'], `${path}.strict`, problems);
      return name === undefined ? undefined : { ...base, type, name, description, parameters, strict };
    }
    case 'custom': {
      const name = readToolName(raw['name'], `${path}.name`, problems);
      const description = readString(raw['description'], `${path}.description`, problems);
      const format = decodeCustomFormat(raw['format'], `${path}.format`, problems);
      return name === undefined ? undefined : { ...base, type, name, description, format };
    }
    case 'namespace':
      requireString(raw['name'], `${path}.name`, problems);
      readArray(raw['tools'], `${path}.tools`, problems)?.forEach((inner, index) =>
        decodeTool(inner, `${path}.tools[${index}]`, problems),
      );
      break;
    case 'computer_use_preview':
      checkDisplay(raw, path, problems);
      break;
    default:
  }
  return { ...base, type: 'hosted', kind: type, meaning: readHostedTool(type, raw, path, problems) };
}

function checkDisplay(raw: JsonObject, path: string, problems: Problems): void {
  for (const name of ['display_width', 'display_height']) {
    const at = `${path}.${name}`;
    if (raw[name] === undefined || raw[name] === null) problems.add(at, 'is required');
    else readNumber(raw[name], at, problems, POSITIVE);
  }
  readOneOf(raw['environment'] ?? '', `${path}.environment`, problems, ENVIRONMENTS);
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
    return type && { type };
  }
  const raw = readObject(value, 'tool_choice', problems);
  if (!raw) return undefined;
  const known = tools && new Set(tools.flatMap(choosable));
  const isTool = (choice: string): boolean => known === undefined || known.has(choice);
  // A name without a type selects a function.
  const isBare = raw['type'] === undefined && typeof raw['name'] === 'string';
  const type = isBare ? 'function' : requireString(raw['type'], 'tool_choice.type', problems);
  switch (type) {
    case undefined:
      return undefined;
    case 'function':
    case 'custom': {
      const name = requireString(raw['name'], 'tool_choice.name', problems);
      if (name === undefined) return undefined;
      if (!isTool(`${type} ${name}`)) problems.add('tool_choice.name', TEXTS.toolNotListed(type));
      return { type: 'tool', kind: type, name };
    }
    case 'allowed_tools':
      return decodeAllowed(raw, isTool, problems);
    default:
      if (!isTool(hostedKind(type))) problems.add('tool_choice.type', TEXTS.mustBeChoice);
      return hostedChoice(raw, 'required', [raw]);
  }
}

/** @param entries that name tools */
function hostedChoice(raw: JsonObject, mode: 'auto' | 'required', entries: readonly Member[]): ToolChoice {
  const tools = entries.flatMap((entry): ChosenTool[] => {
    const tool = isJsonObject(entry) ? readChosenTool(entry) : undefined;
    return tool ? [tool] : [];
  });
  return { type: 'hosted', source: sourceOf(raw), ...(tools.length > 0 && { chosen: { mode, tools } }) };
}

/** Returns the keys by which a tool can be chosen: `function <name>`, `custom <name>`, or the kind of a hosted tool. */
function choosable(tool: Tool): string[] {
  if (tool.type !== 'hosted') return [`${tool.type} ${tool.name}`];
  if (tool.kind !== 'namespace') return [hostedKind(tool.kind)];
  const inner = tool.source.raw['tools'];
  if (!Array.isArray(inner)) return [];
  return inner.filter(isJsonObject).map((each) => `${String(each['type'])} ${String(each['name'])}`);
}

/** Treats all forms of web search as one, because clients choose one form and declare another. */
function hostedKind(type: string): string {
  return isSearchType(type) ? 'web_search' : type;
}

/** Decodes a subset of named tools. One that includes hosted tools also keeps its raw form. */
function decodeAllowed(
  raw: JsonObject,
  isTool: (choice: string) => boolean,
  problems: Problems,
): ToolChoice | undefined {
  const path = 'tool_choice.tools';
  const mode = readOneOf(raw['mode'] ?? '', 'tool_choice.mode', problems, ['auto', 'required'] as const);
  const entries = readArray(raw['tools'], path, problems);
  if (!entries || entries.length === 0) problems.add(path, TEXTS.mustNameTool);
  const names: string[] = [];
  let isNamed = true;
  entries?.forEach((entry, index) => {
    const at = `${path}[${index}]`;
    if (!isJsonObject(entry)) {
      problems.add(at, TEXTS.mustBeObject(describe(entry)));
      return;
    }
    const type = requireString(entry['type'], `${at}.type`, problems);
    if (type !== 'function' && type !== 'custom') {
      isNamed = false;
      if (type !== undefined && !isTool(hostedKind(type)))
        problems.add(`${at}.type`, 'is not the type of one of tools');
      return;
    }
    const name = requireString(entry['name'], `${at}.name`, problems);
    if (name === undefined) return;
    names.push(name);
    if (!isTool(`${type} ${name}`)) problems.add(`${at}.name`, TEXTS.toolNotListed(type));
  });
  if (!isNamed) return mode && hostedChoice(raw, mode, entries ?? []);
  return mode && { type: 'allowed', mode, names };
}
