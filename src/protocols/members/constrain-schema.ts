// Reduces JSON Schemas of answers and tools to the subset that Anthropic and Bedrock enforce by grammar.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import { isJsonArray, isJsonObject } from '../../base/json/index.ts';
import {
  type CanonicalRequest,
  GatewayError,
  type Report,
  type ResponseFormat,
  type Target,
  TEXTS,
} from '../../canonical/index.ts';

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
/** Deeper schemas are not realistic, and would overflow the stack. */
const MAX_DEPTH = 100;

interface Constrained {
  readonly schema: JsonObject;
  /** Keywords that the grammar cannot enforce. Their text is added to the description. */
  readonly unenforced: readonly string[];
}

/**
 * Returns a schema that Anthropic accepts for grammar-constrained output. Objects are closed, and `oneOf` becomes
 * `anyOf`. Keywords that cannot be enforced move into the description, which the model reads.
 * @param path JSON path of the schema in the client's body
 * @throws GatewayError `unsupported` if it is nested too deeply
 */
function constrainSchema(schema: JsonObject, path: string): Constrained {
  const unenforced = new Set<string>();
  return { schema: constrain(schema, 0, path, unenforced), unenforced: [...unenforced] };
}

/** A response format with a schema. */
type SchemaFormat = Extract<ResponseFormat, { type: 'json_schema' }>;

/**
 * Returns the response schema for an upstream that has no other format. Keywords that it cannot enforce are reported.
 * @param who the vendor that enforces it, for the report
 * @param titled the schema with the protocol's own additions
 * @returns undefined without a format, or with another one, which is reported
 */
export function constrainedFormat(
  { responseFormat: format }: CanonicalRequest,
  target: Target,
  who: string,
  report: Report,
  titled: (schema: JsonObject) => JsonObject = (schema) => schema,
): (Omit<SchemaFormat, 'schema'> & { readonly schema: JsonObject }) | undefined {
  if (format === undefined || format.type === 'text') return undefined;
  const isSchema = format.type === 'json_schema' && format.schema !== undefined;
  if (!isSchema || target.quirks.structuredOutput !== 'json_schema') {
    report.add('response_format', 'dropped', TEXTS.noFormat);
    return undefined;
  }
  const path = 'response_format.json_schema.schema';
  const { schema, unenforced } = constrainSchema(titled(format.schema), path);
  if (unenforced.length > 0)
    report.add(
      path,
      'approximated',
      `${who} cannot enforce ${unenforced.join(', ')}: stated in the description instead`,
    );
  return { ...format, schema };
}

/**
 * Returns the schema of a strict tool; undefined, with a report, if it cannot be fully enforced.
 * @param path of the tool
 */
export function strictSchema(
  given: JsonObject,
  path: string,
  who: string,
  report: Report,
): JsonObject | undefined {
  const { schema, unenforced } = constrainSchema(given, path);
  if (unenforced.length === 0) return schema;
  const reason = `${who} cannot enforce ${unenforced.join(', ')}: the tool is sent without strict`;
  report.add(`${path}.strict`, 'approximated', reason);
  return undefined;
}

function constrain(schema: JsonObject, depth: number, path: string, unenforced: Set<string>): JsonObject {
  if (depth > MAX_DEPTH)
    throw new GatewayError('unsupported', 'The schema is nested too deeply.', { param: path });
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
    // Anthropic requires closed objects. Output for a closed object also satisfies a schema that leaves
    // `additionalProperties` out, so this is not reported. Closing a map is reported, because it is then always empty.
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
