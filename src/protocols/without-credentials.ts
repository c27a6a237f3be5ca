// Masks the credentials of tools and their servers in request bodies that are stored or repeated. One list covers all
// protocols, because a body that was sent to the wrong address is recorded as well.
import { isJsonObject } from '../base/json/index.ts';
import { REDACTED, withoutSecrets } from '../canonical/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../base/json/index.ts';

/** Members of a body that describe tools and servers. */
const PLACES = ['tools', 'mcp_servers'] as const;
/**
 * Names of secrets, in lower case without underscores: MCP servers of OpenAI ("MCP and connectors"), Anthropic ("MCP
 * connector") and Gemini (`StreamableHttpTransport`, `ApiAuth`, `AuthConfig` of its API reference), 2026-11.
 */
const SECRETS: ReadonlySet<string> = new Set([
  'authorization',
  'authorizationtoken',
  'headers',
  'apikey',
  'apikeystring',
  'accesstoken',
  'idtoken',
]);
/** Addresses, which can contain secrets. */
const ADDRESSES: ReadonlySet<string> = new Set(['serverurl', 'url', 'endpoint']);
/** Members that define the client's own functions. Their parameters can have any names and are never secrets. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'functiondeclarations',
  'parameters',
  'inputschema',
  'inputexamples',
]);

/** @param body of a request, of any protocol @returns the same object if there is nothing to mask */
export function withoutCredentials(body: JsonValue): JsonValue {
  if (!isJsonObject(body)) return body;
  let kept: JsonObject = body;
  for (const name of PLACES) {
    const place = body[name];
    const masked = place === undefined ? place : toolWithoutCredentials(place);
    if (masked !== place) kept = { ...kept, [name]: masked };
  }
  return kept;
}

/** @param tool one tool or a list of them @returns the same value if there is nothing to mask */
export function toolWithoutCredentials(tool: JsonValue): JsonValue {
  if (Array.isArray(tool)) {
    const list: readonly JsonValue[] = tool;
    const masked = list.map(toolWithoutCredentials);
    return masked.some((each, place) => each !== list[place]) ? masked : tool;
  }
  if (!isJsonObject(tool)) return tool;
  let copy: MutableJsonObject | undefined;
  for (const name in tool) {
    const member = tool[name];
    const masked = member === undefined ? member : maskedMember(name, member);
    if (masked === member) continue;
    copy ??= { ...tool };
    copy[name] = masked;
  }
  return copy ?? tool;
}

function maskedMember(name: string, value: JsonValue): JsonValue {
  const word = name.replaceAll('_', '').toLowerCase();
  if (value === null || FUNCTIONS.has(word)) return value;
  // Header names are not secret, so an object of headers keeps its names.
  if (SECRETS.has(word))
    return isJsonObject(value)
      ? Object.fromEntries(Object.keys(value).map((each) => [each, REDACTED]))
      : REDACTED;
  if (ADDRESSES.has(word) && typeof value === 'string') return withoutSecrets(value);
  return toolWithoutCredentials(value);
}
