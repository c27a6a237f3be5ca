// Decodes `tools` and `toolConfig`, and checks that they are consistent.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import {
  type FunctionTool,
  type Problems,
  type Tool,
  type ToolChoice,
  TEXTS,
} from '../../../canonical/index.ts';
import { asObject, asString, isJsonObject, unknownMembers } from '../../../base/json/index.ts';
import {
  describe,
  readArray,
  readObject,
  readString,
  readStrings,
  requireString,
} from '../../members/read-member.ts';
import type { Member } from '../../members/read-member.ts';
import { camelMembers } from '../camel-members.ts';
import { decodeSchema } from './decode-schema.ts';
import { CALLING_SHAPE, TOOL_CONFIG_SHAPE } from '../member-shapes.ts';

/** Members without a canonical form, by their path in the body. */
export type ExtraMembers = MutableJsonObject;

/** Google's names of web search. Neither has options that another search could apply. */
const SEARCHES: ReadonlySet<string> = new Set(['googleSearch', 'googleSearchRetrieval']);
const ANY_SEARCH = { type: 'web_search', search: { allowedDomains: [], blockedDomains: [] } } as const;

/** Decodes `tools`. One object can declare functions and enable several hosted tools. */
export function decodeTools(value: Member, problems: Problems): Tool[] {
  const tools: Tool[] = [];
  const names = new Set<string>();
  // A single object counts as a list of one, as in Google's parser (recorded 2025).
  const list = isJsonObject(value) ? [value] : readArray(value, 'tools', problems);
  list?.forEach((element, index) => {
    const path = isJsonObject(value) ? 'tools' : `tools[${index}]`;
    if (!isJsonObject(element)) {
      problems.add(path, TEXTS.mustBeObject(describe(element)));
      return;
    }
    const raw = camelMembers(element);
    for (const key in raw) {
      const member = raw[key];
      if (member === undefined || member === null) continue;
      const at = `${path}.${key}`;
      if (key !== 'functionDeclarations') {
        tools.push({
          type: 'hosted',
          kind: key,
          meaning: SEARCHES.has(key) ? ANY_SEARCH : undefined,
          path: at,
          source: { protocol: 'gemini', raw: { [key]: member } },
        });
        continue;
      }
      readArray(member, at, problems)?.forEach((declaration, position) => {
        const tool = decodeFunction(declaration, `${at}[${position}]`, problems);
        if (!tool) return;
        tools.push(tool);
        if (names.has(tool.name)) problems.add(`${at}[${position}].name`, 'is used by an earlier function');
        names.add(tool.name);
      });
    }
  });
  return tools;
}

function decodeFunction(value: JsonValue, path: string, problems: Problems): FunctionTool | undefined {
  if (!isJsonObject(value)) {
    problems.add(path, TEXTS.mustBeObject(describe(value)));
    return undefined;
  }
  const raw = camelMembers(value);
  const name = requireString(raw['name'], `${path}.name`, problems);
  const description = readString(raw['description'], `${path}.description`, problems) || undefined;
  const own = readObject(raw['parameters'], `${path}.parameters`, problems);
  const parameters =
    readObject(raw['parametersJsonSchema'], `${path}.parametersJsonSchema`, problems) ??
    (own && decodeSchema(own, `${path}.parameters`, problems));
  if (name === undefined) return undefined;
  return {
    type: 'function',
    name,
    description,
    parameters,
    path,
    source: { protocol: 'gemini', raw: value },
  };
}

/** Decodes `toolConfig` and checks it against the tools. @param extra collects members without a canonical form */
export function decodeToolConfig(
  value: Member,
  tools: readonly Tool[],
  extra: ExtraMembers,
  problems: Problems,
): ToolChoice | undefined {
  const given = readObject(value, 'toolConfig', problems);
  if (!given) return undefined;
  const config = camelMembers(given);
  addExtra(extra, 'toolConfig', unknownMembers(config, TOOL_CONFIG_SHAPE.known));
  const path = 'toolConfig.functionCallingConfig';
  const calling = readObject(config['functionCallingConfig'], path, problems);
  if (!calling) return undefined;
  const { mode: word, allowedFunctionNames, ...rest } = camelMembers(calling);
  addExtra(extra, path, unknownMembers(rest, CALLING_SHAPE.known));
  const mode = readString(word, `${path}.mode`, problems)?.toUpperCase();
  const names = readStrings(allowedFunctionNames, `${path}.allowedFunctionNames`, problems) ?? [];
  const known = new Set(tools.map((tool) => (tool.type === 'hosted' ? '' : tool.name)));
  names.forEach((name, index) => {
    if (!known.has(name))
      problems.add(`${path}.allowedFunctionNames[${index}]`, 'names a function that is not in tools');
  });
  switch (mode) {
    case undefined:
    case 'MODE_UNSPECIFIED':
    case 'AUTO':
      return { type: 'auto' };
    case 'NONE':
      return { type: 'none' };
    case 'ANY': {
      const [first] = names;
      if (first === undefined) return { type: 'required' };
      return names.length === 1
        ? { type: 'tool', kind: 'function', name: first }
        : { type: 'allowed', mode: 'required', names };
    }
    // The choice is automatic. Enforcement of schemas is set on the tools: see `isValidated`.
    case 'VALIDATED':
      return names.length > 0 ? { type: 'allowed', mode: 'auto', names } : { type: 'auto' };
    default:
      problems.add(`${path}.mode`, 'must be one of AUTO, ANY, NONE, VALIDATED');
      return undefined;
  }
}

/** True if schemas are enforced for every call (`VALIDATED`), which other protocols set per function. */
export function isValidated(value: Member): boolean {
  const calling = camelMembers(asObject(camelMembers(asObject(value))['functionCallingConfig']));
  return asString(calling['mode'])?.toUpperCase() === 'VALIDATED';
}

/** Adds members under their paths. */
export function addExtra(extra: ExtraMembers, path: string, members: JsonObject | undefined): void {
  for (const key in members) {
    const value = members[key];
    if (value !== undefined && value !== null) extra[`${path}.${key}`] = value;
  }
}
