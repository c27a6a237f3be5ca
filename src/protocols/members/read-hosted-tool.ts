// Reads hosted tools, such as web search and remote MCP servers, in the flat form of the Responses API. Many vendors'
// Chat Completions use the same form.
import { asObject, asString, isJsonObject } from '../../base/json/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type {
  ChosenTool,
  HostedMeaning,
  McpApproval,
  McpFilter,
  Problems,
  SearchWish,
} from '../../canonical/index.ts';
import {
  describe,
  readBoolean,
  readObject,
  readString,
  readStrings,
  readOneOf,
  requireString,
} from './read-member.ts';
import type { Member } from './read-member.ts';

/** Members of a user location (OpenAI API reference, "Web search", `user_location`, 2026-11). */
const PLACE = ['city', 'country', 'region', 'timezone'] as const;

/** Returns the capability of a tool type; undefined for types that the gateway cannot run. */
export function readHostedTool(
  type: string,
  raw: JsonObject,
  path: string,
  problems: Problems,
): HostedMeaning | undefined {
  if (type === 'mcp') return readMcp(raw, path, problems);
  return isSearchType(type) ? { type: 'web_search', search: readSearch(raw, path, problems) } : undefined;
}

/** True for `web_search`, `web_search_preview` and their dated names. */
export function isSearchType(type: string): boolean {
  return type.startsWith('web_search');
}

/**
 * Reads a tool choice, or an entry of a list of allowed tools: `{type, name?, server_label?}` (OpenAI API reference,
 * "Create a model response", `tool_choice`, 2026-11).
 * @returns undefined for tools that the gateway cannot run
 */
export function readChosenTool(raw: JsonObject): ChosenTool | undefined {
  const type = asString(raw['type']) ?? '';
  const name = asString(raw['name']);
  if (isSearchType(type)) return { type: 'web_search' };
  if (type === 'mcp') {
    const label = asString(raw['server_label']);
    return label === undefined ? undefined : { type, label, name };
  }
  const isClients = type === 'function' || type === 'custom';
  return isClients && name !== undefined ? { type: 'named', name } : undefined;
}

function readSearch(raw: JsonObject, path: string, problems: Problems): SearchWish {
  const sizes = ['low', 'medium', 'high'] as const;
  const contextSize = readOneOf(raw['search_context_size'], `${path}.search_context_size`, problems, sizes);
  const filters = readObject(raw['filters'], `${path}.filters`, problems);
  const domains = (name: string): readonly string[] =>
    readStrings(filters?.[name], `${path}.filters.${name}`, problems) ?? [];
  return {
    contextSize,
    userLocation: readPlace(raw['user_location'], `${path}.user_location`, problems),
    allowedDomains: domains('allowed_domains'),
    blockedDomains: domains('blocked_domains'),
  };
}

/** Reads `{city, country, region, timezone}`; all are optional. */
export function readPlace(value: Member, path: string, problems: Problems): JsonObject | undefined {
  const place = readObject(value, path, problems);
  if (!place) return undefined;
  const read: Record<string, string> = {};
  for (const name of PLACE) {
    const text = readString(place[name], `${path}.${name}`, problems);
    if (text) read[name] = text;
  }
  return read;
}

/** OpenAI API reference, "Create a model response", `tools`, MCP tool, 2026-11. */
function readMcp(raw: JsonObject, path: string, problems: Problems): HostedMeaning | undefined {
  const label = requireString(raw['server_label'], `${path}.server_label`, problems);
  const url = readString(raw['server_url'], `${path}.server_url`, problems) || undefined;
  const authorization = readString(raw['authorization'], `${path}.authorization`, problems) || undefined;
  const description = readString(raw['server_description'], `${path}.server_description`, problems);
  const headers = readHeaders(raw['headers'], `${path}.headers`, problems);
  const allowed = readFilter(raw['allowed_tools'], `${path}.allowed_tools`, problems);
  const approval = readApproval(raw['require_approval'], `${path}.require_approval`, problems);
  // Connectors are services that only their vendor can reach.
  if (label === undefined || typeof raw['connector_id'] === 'string') return undefined;
  return { type: 'mcp', mcp: { label, url, description, authorization, headers, allowed, approval } };
}

function readHeaders(value: Member, path: string, problems: Problems): Record<string, string> | undefined {
  const raw = readObject(value, path, problems);
  if (!raw) return undefined;
  const headers: Record<string, string> = {};
  for (const name in raw) {
    const text = readString(raw[name], `${path}.${name}`, problems);
    if (text !== undefined) headers[name.toLowerCase()] = text;
  }
  return headers;
}

function readFilter(value: Member, path: string, problems: Problems): McpFilter | null {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return { names: readStrings(value, path, problems) ?? [] };
  if (!isJsonObject(value)) {
    problems.add(path, `must be a list of names or an object, not ${describe(value)}`);
    return null;
  }
  return {
    names: readStrings(value['tool_names'], `${path}.tool_names`, problems),
    readOnly: readBoolean(value['read_only'], `${path}.read_only`, problems),
  };
}

function readApproval(value: Member, path: string, problems: Problems): McpApproval | undefined {
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value))
    return {
      always: readFilter(asFilter(value['always']), `${path}.always`, problems),
      never: readFilter(asFilter(value['never']), `${path}.never`, problems),
    };
  return readOneOf(value, path, problems, ['always', 'never'] as const);
}

/** Some clients send an empty object for an unused filter. */
function asFilter(value: Member): Member {
  return isJsonObject(value) && Object.keys(asObject(value)).length === 0 ? undefined : value;
}
