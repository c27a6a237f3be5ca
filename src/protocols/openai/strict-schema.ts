// Checks whether OpenAI can enforce a JSON Schema. Other vendors' `strict` accepts more: a schema that is valid at
// Anthropic can get a 400 from OpenAI.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { ProtocolName, Report } from '../../canonical/index.ts';
import { asArray, asObject, isJsonArray, isJsonObject } from '../../base/json/index.ts';

/** Guide "Structured Outputs", supported schemas, and the API's errors "'…' is not permitted" (2026-11). */
const REFUSED: ReadonlySet<string> = new Set([
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contains',
  'minContains',
  'maxContains',
  'uniqueItems',
  'prefixItems',
  'default',
]);
/** The same guide allows up to ten levels. Deeper schemas are refused, and could overflow the stack. */
const MAX_DEPTH = 10;

/**
 * Returns `strict` for an OpenAI upstream: false, with a report, instead of true if OpenAI would refuse the schema.
 * Clients of OpenAI's protocols expect its rules and get its own refusal.
 * @param path JSON path of `strict` in the client's body
 */
export function enforceable(
  strict: boolean | undefined,
  schema: JsonObject | undefined,
  client: ProtocolName,
  path: string,
  report: Report,
): boolean | undefined {
  if (strict !== true || client === 'openai-chat' || client === 'openai-responses') return strict;
  const obstacle = schema === undefined ? 'a missing schema' : obstacleAtRoot(schema);
  if (obstacle === undefined) return true;
  report.add(path, 'approximated', `OpenAI cannot enforce ${obstacle}: sent without strict`);
  return false;
}

/** True if OpenAI enforces a schema unchanged. */
export function isEnforceable(schema: JsonObject | undefined): boolean {
  return schema !== undefined && obstacleAtRoot(schema) === undefined;
}

function obstacleAtRoot(schema: JsonObject): string | undefined {
  if (schema['type'] !== 'object') return 'a schema whose root is not an object';
  return obstacleIn(schema, 0);
}

/** Returns the reason why a schema cannot be enforced; undefined if there is none. */
function obstacleIn(schema: JsonObject, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return `a schema of more than ${MAX_DEPTH} levels`;
  const refused = Object.keys(schema).find((key) => REFUSED.has(key));
  if (refused !== undefined) return refused;
  const properties = asObject(schema['properties']);
  if (isObjectSchema(schema)) {
    if (schema['additionalProperties'] !== false) return 'open objects';
    const required = new Set(asArray(schema['required']));
    const optional = Object.keys(properties).find((name) => !required.has(name));
    if (optional !== undefined) return 'optional properties';
  }
  for (const member of [properties, schema['$defs'], schema['definitions']])
    for (const inner of Object.values(asObject(member))) {
      const found = obstacleWithin(inner, depth);
      if (found !== undefined) return found;
    }
  for (const inner of [schema['items'], ...asArray(schema['anyOf'])]) {
    const found = obstacleWithin(inner, depth);
    if (found !== undefined) return found;
  }
  return undefined;
}

function obstacleWithin(value: JsonValue | undefined, depth: number): string | undefined {
  return isJsonObject(value) ? obstacleIn(value, depth + 1) : undefined;
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || (isJsonArray(type) && type.includes('object')) || isJsonObject(properties);
}
