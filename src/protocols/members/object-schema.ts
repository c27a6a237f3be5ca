// Schemas of tool inputs for Anthropic and Bedrock, which require an object at the root.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import type { Report } from '../../canonical/index.ts';
import { asArray, asObject, isJsonObject } from '../../base/json/index.ts';

/** Schema of a tool without arguments. */
export const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} };
const COMBINATIONS = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * Returns the schema of a tool's input with a plain object at its root. Combinations there are merged: all properties,
 * and what every branch requires.
 * @param path JSON path of the tool in the client's body
 * @param who vendor that requires it, for the report
 */
export function objectSchema(
  parameters: JsonObject | undefined,
  path: string,
  who: string,
  report: Report,
): JsonObject {
  if (parameters === undefined) return NO_ARGUMENTS;
  const combined = COMBINATIONS.filter((keyword) => parameters[keyword] !== undefined);
  if (combined.length === 0 && parameters['type'] === 'object') return parameters;
  const schema: MutableJsonObject = { ...parameters, type: 'object' };
  const { type } = parameters;
  if (type !== undefined && type !== 'object') {
    report.add(
      `${path}.parameters.type`,
      'approximated',
      `${who} requires the type "object" for the input of a tool`,
    );
  }
  for (const keyword of combined) {
    const branches = asArray(parameters[keyword]).filter(isJsonObject);
    let properties: JsonObject = asObject(schema['properties']);
    for (const branch of branches) properties = { ...asObject(branch['properties']), ...properties };
    const required = requiredBy(branches, keyword === 'allOf');
    schema['properties'] = properties;
    if (required.length > 0) schema['required'] = [...new Set([...asArray(schema['required']), ...required])];
    delete schema[keyword];
    report.add(
      `${path}.parameters.${keyword}`,
      'approximated',
      `${who} does not support alternatives at the root of a tool schema; they were merged`,
    );
  }
  return schema;
}

/** Returns the names that every branch requires, or that any branch requires if `all` apply at once. */
function requiredBy(branches: readonly JsonObject[], all: boolean): readonly JsonValue[] {
  const lists = branches.map((branch) => asArray(branch['required']));
  if (all) return lists.flat();
  const sets = lists.map((list) => new Set(list));
  return (lists[0] ?? []).filter((name) => sets.every((set) => set.has(name)));
}
