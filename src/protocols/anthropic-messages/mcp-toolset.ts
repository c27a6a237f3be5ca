// Tools of remote MCP servers as Anthropic takes them: the servers in a member of their own, and a tool for each that
// says which of its tools may be used (documentation "MCP connector", version 2025-11-20). Lenient: Anthropic checks.
import { asArray, asObject, asString, isJsonObject } from '../../base/json/index.ts';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { HostedMeaning, McpFilter } from '../../canonical/index.ts';

/** Capability of a tool of the type `mcp_toolset`; undefined for other tools, and for a server that the request does not list. */
export function readToolset(
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
      // The protocol has no place for a question to a person.
      approval: 'never',
      member: 'mcp_servers',
    },
  };
}

/** `default_config` and `configs`: null where all tools may be used. Tools are on unless one of the two says otherwise. */
function readConfigs(tool: JsonObject): McpFilter | null {
  const isOn = (config: JsonValue | undefined, otherwise: boolean): boolean =>
    isJsonObject(config) && typeof config['enabled'] === 'boolean' ? config['enabled'] : otherwise;
  const byDefault = isOn(tool['default_config'], true);
  const configs = Object.entries(asObject(tool['configs']));
  const named = configs.filter(([, config]) => isOn(config, byDefault) !== byDefault).map(([name]) => name);
  if (byDefault) return named.length === 0 ? null : { except: named };
  return { names: named };
}
