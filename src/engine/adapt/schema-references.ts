// Counts the references of a JSON Schema that are followed for one value in the worst case. Endless recursion is thus
// detected from the schema alone, before a request is sent upstream.
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/index.ts';

/** Keywords whose schemas apply to the same value as the enclosing schema (JSON Schema 2020-12 core, section 10.2). */
const ONE = ['not', 'if', 'then', 'else'] as const;
const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const BY_NAME = ['dependentSchemas', 'dependencies'] as const;
const REFERENCES = ['$ref', '$dynamicRef'] as const;

/**
 * Maximum references followed for one value, excluding those for its members. Infinity: a schema refers to itself for
 * the same value. References by URI are not followed; 0 when subschemas have their own `$id`.
 * @param objects all objects of the schema, including itself
 */
export function mostReferences(schema: JsonObject, objects: readonly JsonObject[]): number {
  if (objects.some((object) => object !== schema && typeof object['$id'] === 'string')) return 0;
  const anchors = new Map<JsonValue | undefined, JsonObject>();
  for (const object of objects)
    for (const name of [object['$anchor'], object['$dynamicAnchor']])
      if (typeof name === 'string') anchors.set(`#${name}`, object);
  const counts = new Map<JsonObject, number>();
  const count = (from: JsonObject): number => {
    const known = counts.get(from);
    if (known !== undefined) return known;
    // Reaching this schema again before its count is known is a cycle.
    counts.set(from, Infinity);
    let sum = 0;
    for (const inner of ofSameValue(from)) if (isJsonObject(inner)) sum += count(inner);
    for (const keyword of REFERENCES) {
      const target = anchors.get(from[keyword]) ?? resolvePointer(schema, from[keyword]);
      if (isJsonObject(target)) sum += 1 + count(target);
    }
    counts.set(from, sum);
    return sum;
  };
  return objects.reduce((most, object) => Math.max(most, count(object)), 0);
}

function ofSameValue(schema: JsonObject): readonly (JsonValue | undefined)[] {
  const found = ONE.map((keyword) => schema[keyword]);
  for (const keyword of LISTS) {
    const list = schema[keyword];
    if (Array.isArray(list)) found.push(...list);
  }
  for (const keyword of BY_NAME) {
    const named = schema[keyword];
    if (isJsonObject(named)) found.push(...Object.values(named));
  }
  return found;
}

/** Target of a JSON Pointer in a fragment (RFC 6901, section 6). Undefined: the reference has another form. */
function resolvePointer(schema: JsonObject, reference: JsonValue | undefined): JsonValue | undefined {
  if (reference === '#') return schema;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  let found: JsonValue | undefined = schema;
  for (const encoded of reference.slice(2).split('/')) {
    const name = decoded(encoded).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as JsonObject)[name];
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
