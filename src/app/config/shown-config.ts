// The current configuration for display: in the file's format, with defaults, and secrets masked.
import type { SchemaNode } from '../../catalog/schema/index.ts';
import { isJsonArray, isJsonObject } from '../../base/json/index.ts';
import { withoutSecrets } from '../../canonical/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import { MASK } from '../../base/telemetry/redact.ts';
import { configNodeAt } from './schema/schema.ts';

/** Formats a configuration. Takes about 50 ms. @param given merged file, environment and flags, already validated */
export function shownConfig(given: unknown): JsonObject {
  const root = configNodeAt([]);
  return root && isJsonObject(given) ? shownObject(given, root) : {};
}

function shown(value: JsonValue, node: SchemaNode | undefined): JsonValue {
  if (node?.secret) return value === '' ? '' : MASK;
  if (isJsonObject(value)) return shownObject(value, node);
  if (isJsonArray(value)) return value.map((each) => shown(each, node?.element));
  // Addresses may contain keys.
  return typeof value === 'string' && value.includes('://') ? withoutSecrets(value) : value;
}

function shownObject(given: JsonObject, node: SchemaNode | undefined): JsonObject {
  const all: MutableJsonObject = {};
  for (const [name, member] of node?.members ?? []) {
    const value = given[name] ?? (member.default as JsonValue | undefined);
    if (value !== undefined) all[name] = shown(value, member);
  }
  for (const [name, value] of Object.entries(given))
    if (all[name] === undefined && value !== undefined)
      all[name] = shown(value, node?.members.get(name) ?? node?.element);
  return all;
}
