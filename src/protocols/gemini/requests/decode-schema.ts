// Converts Google's `Schema` (a subset of OpenAPI 3.0) to JSON Schema, which every other protocol uses.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { Problems } from '../../../canonical/index.ts';
import { asArray, asObject, asString, isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import { camelMembers } from '../camel-members.ts';

/** Limits that Google writes as strings, because they have 64 bits (API reference, `Schema`, 2026-11). */
const COUNTS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
]);
/** Deeper schemas are not realistic, and would overflow the stack. */
const MAX_DEPTH = 100;

/**
 * Returns the equivalent JSON Schema: types in lower case, `nullable` as a type, `propertyOrdering` as the order of the
 * properties.
 * @param path JSON path of the schema in the client's body
 */
export function decodeSchema(raw: JsonObject, path: string, problems: Problems, depth = 0): JsonObject {
  const schema: MutableJsonObject = {};
  if (depth > MAX_DEPTH) {
    problems.add(path, 'is nested too deeply');
    return schema;
  }
  const walk = (value: JsonValue | undefined): JsonValue | undefined =>
    isJsonObject(value) ? decodeSchema(value, path, problems, depth + 1) : value;
  const given = camelMembers(raw);
  for (const key in given) {
    const value = given[key];
    switch (key) {
      case 'type':
        schema['type'] = typeof value === 'string' ? value.toLowerCase() : value;
        break;
      case 'properties':
        schema['properties'] = ordered(mapMembers(asObject(value), walk), given['propertyOrdering']);
        break;
      case 'items':
        schema['items'] = walk(value);
        break;
      case 'anyOf':
        schema['anyOf'] = isJsonArray(value) ? value.map((branch) => walk(branch) ?? null) : value;
        break;
      case 'nullable':
      case 'propertyOrdering':
        break;
      default:
        schema[key] = COUNTS.has(key) && typeof value === 'string' ? Number(value) : value;
    }
  }
  if (given['nullable'] === true) makeNullable(schema);
  if (schema['type'] === 'type_unspecified') delete schema['type'];
  return schema;
}

function makeNullable(schema: MutableJsonObject): void {
  const type = asString(schema['type']);
  if (type !== undefined && type !== 'null') schema['type'] = [type, 'null'];
  const { anyOf, enum: words } = schema;
  if (isJsonArray(anyOf)) schema['anyOf'] = [...anyOf, { type: 'null' }];
  if (isJsonArray(words) && !words.includes(null)) schema['enum'] = [...words, null];
}

function mapMembers(
  members: JsonObject,
  walk: (value: JsonValue | undefined) => JsonValue | undefined,
): MutableJsonObject {
  const mapped: MutableJsonObject = {};
  for (const name in members) if (name !== '__proto__') mapped[name] = walk(members[name]);
  return mapped;
}

function ordered(properties: MutableJsonObject, ordering: JsonValue | undefined): JsonObject {
  const first: MutableJsonObject = {};
  for (const name of asArray(ordering))
    if (typeof name === 'string' && Object.hasOwn(properties, name)) first[name] = properties[name];
  return { ...first, ...properties };
}
