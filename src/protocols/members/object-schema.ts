// The schema of a tool's input, for upstreams that want an object at its root: Anthropic and Bedrock. Knows no tool.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import type { Report } from '../../canonical/index.ts';
import { asArray, asObject, isJsonObject } from '../../base/json/index.ts';

/** Schema of a tool that takes nothing. */
export const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} };
const COMBINATIONS = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * The schema of a tool's input with an object without alternatives at its root. The branches of a combination there are
 * merged: all their properties, and what all of them require.
 * @param path JSON path of the tool in the client's body
 * @param who wants it so, for the report
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
      `${who} wants the type "object" for the input of a tool`,
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
      `${who} takes no alternatives at the root of a tool schema; they were merged`,
    );
  }
  return schema;
}

/** Names that every branch requires, or that any does when `all` hold at once. */
function requiredBy(branches: readonly JsonObject[], all: boolean): readonly JsonValue[] {
  const lists = branches.map((branch) => asArray(branch['required']));
  if (all) return lists.flat();
  const sets = lists.map((list) => new Set(list));
  return (lists[0] ?? []).filter((name) => sets.every((set) => set.has(name)));
}
