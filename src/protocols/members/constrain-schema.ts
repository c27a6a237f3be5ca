// JSON Schemas in the subset that Anthropic enforces by grammar, as does Bedrock. Knows nothing of tools or of answers.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import { isJsonArray, isJsonObject } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';

/** Documentation "Structured outputs", JSON Schema limitations, and the official SDK's schema transformation (2026-11). */
const KEPT: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'default',
  'enum',
  'const',
  'required',
  'items',
  'properties',
  '$ref',
  '$defs',
  'definitions',
  'anyOf',
  'allOf',
]);
const STRING_FORMATS: ReadonlySet<string> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
/** Deeper schemas are no honest ones, and would overflow the stack. */
const MAX_DEPTH = 100;

export interface Constrained {
  readonly schema: JsonObject;
  /** Keywords that the grammar cannot enforce; their text went into the description. */
  readonly unenforced: readonly string[];
}

/**
 * A schema that Anthropic accepts for grammar-constrained output. Objects are closed, `oneOf` becomes `anyOf`,
 * and what cannot be enforced moves into the description, where the model still reads it.
 * @param path JSON path of the schema in the client's body
 * @throws GatewayError `unsupported` when it is nested too deeply
 */
export function constrainSchema(schema: JsonObject, path: string): Constrained {
  const unenforced = new Set<string>();
  return { schema: constrain(schema, 0, path, unenforced), unenforced: [...unenforced] };
}

function constrain(schema: JsonObject, depth: number, path: string, unenforced: Set<string>): JsonObject {
  if (depth > MAX_DEPTH)
    throw new GatewayError('unsupported', 'the schema is nested too deeply', { param: path });
  const walk = (value: JsonValue | undefined): JsonValue | undefined =>
    isJsonObject(value) ? constrain(value, depth + 1, path, unenforced) : value;
  const out: MutableJsonObject = {};
  const rest: MutableJsonObject = {};
  for (const key in schema) {
    const value = schema[key];
    if (key === 'properties' || key === '$defs' || key === 'definitions') out[key] = mapMembers(value, walk);
    else if (key === 'anyOf' || key === 'allOf')
      out[key] = isJsonArray(value) ? value.map((v) => walk(v) ?? null) : value;
    else if (key === 'oneOf') out['anyOf'] = isJsonArray(value) ? value.map((v) => walk(v) ?? null) : value;
    else if (key === 'items') out[key] = walk(value);
    else if (KEPT.has(key) || isEnforced(key, value)) out[key] = value;
    else if (key !== '$schema' && key !== '$id' && key !== 'additionalProperties' && key !== 'strict')
      rest[key] = value;
  }
  if (isObjectSchema(schema)) {
    const open = schema['additionalProperties'];
    // Anthropic demands closed objects. Whatever satisfies the closed one satisfies the one that says nothing, so that the
    // client gets what it asked for and nothing is to be reported; closing a map would empty it.
    if (open !== undefined && open !== false) rest['additionalProperties'] = open;
    else if (open === undefined && schema['properties'] === undefined) rest['additionalProperties'] = true;
    out['additionalProperties'] = false;
  }
  const keywords = Object.keys(rest);
  if (keywords.length > 0) {
    for (const keyword of keywords) unenforced.add(keyword);
    const given = typeof schema['description'] === 'string' ? `${schema['description']}\n` : '';
    out['description'] = `${given}Constraints: ${JSON.stringify(rest)}`;
  }
  return out;
}

function isEnforced(key: string, value: JsonValue | undefined): boolean {
  if (key === 'format') return typeof value === 'string' && STRING_FORMATS.has(value);
  return key === 'minItems' && (value === 0 || value === 1);
}

function isObjectSchema(schema: JsonObject): boolean {
  const type = schema['type'];
  return (
    type === 'object' || (isJsonArray(type) && type.includes('object')) || isJsonObject(schema['properties'])
  );
}

function mapMembers(
  value: JsonValue | undefined,
  map: (v: JsonValue | undefined) => JsonValue | undefined,
): JsonValue | undefined {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(member)]));
}
