// Places in which requests hold the credentials of tools and of their servers, and how these are masked in what is kept or repeated.
// One list for all protocols: a body that came to the wrong address is recorded as well, and must not show them either.
import { isJsonObject } from '../base/json/index.ts';
import { REDACTED, withoutSecrets } from '../canonical/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../base/json/index.ts';

/** Members of a body that describe tools and servers. */
const PLACES = ['tools', 'mcp_servers'] as const;
/**
 * Secrets, by names in small letters without underscores: MCP servers of OpenAI ("MCP and connectors"), Anthropic ("MCP
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
/** Addresses, which may hold secrets. */
const ADDRESSES: ReadonlySet<string> = new Set(['serverurl', 'url', 'endpoint']);
/** Sign of a client's own function: its parameters may have any names, and none of them is a secret. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'functiondeclarations',
  'parameters',
  'inputschema',
  'inputexamples',
]);

/** @param body of a request, of any protocol; the same object when there is nothing to hide */
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

/** @param tool one, or a list of them; the same object when there is nothing to hide */
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
  // Names of headers are no secrets, and their place is that of an object.
  if (SECRETS.has(word))
    return isJsonObject(value)
      ? Object.fromEntries(Object.keys(value).map((each) => [each, REDACTED]))
      : REDACTED;
  if (ADDRESSES.has(word) && typeof value === 'string') return withoutSecrets(value);
  return toolWithoutCredentials(value);
}
