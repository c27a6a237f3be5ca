// Simplified view of the configuration's JSON Schema: the node and known keys at a path. Used by interpolation, error
// messages and the reference page, so that all agree with the schema.
import { isJsonObject } from '../../base/json/index.ts';
import type { JsonObject } from '../../base/json/index.ts';

export interface SchemaNode {
  readonly types: readonly string[];
  readonly secret: boolean;
  readonly description: string;
  readonly default: unknown;
  readonly values: readonly unknown[];
  /** Members by name; empty if it is not an object. */
  readonly members: ReadonlyMap<string, SchemaNode>;
  /** Schema of other members, or of array elements. */
  readonly element: SchemaNode | undefined;
  readonly required: ReadonlySet<string>;
}

/** Parses a JSON Schema as zod writes it: objects, records, arrays, unions and scalars, without references. */
export function schemaNode(schema: JsonObject): SchemaNode {
  const choices = Array.isArray(schema['anyOf']) ? schema['anyOf'].filter(isJsonObject).map(schemaNode) : [];
  const members = new Map<string, SchemaNode>();
  for (const choice of choices) for (const [name, node] of choice.members) members.set(name, node);
  if (isJsonObject(schema['properties'])) {
    for (const [name, member] of Object.entries(schema['properties'])) {
      if (isJsonObject(member)) members.set(name, schemaNode(member));
    }
  }
  const names = isJsonObject(schema['propertyNames']) ? schema['propertyNames']['enum'] : undefined;
  if (Array.isArray(names) && isJsonObject(schema['additionalProperties'])) {
    const member = schemaNode(schema['additionalProperties']);
    for (const name of names) if (typeof name === 'string') members.set(name, member);
  }
  const element = isJsonObject(schema['items']) ? schema['items'] : schema['additionalProperties'];
  const required = Array.isArray(schema['required'])
    ? schema['required'].filter((name) => typeof name === 'string')
    : [];
  return {
    types: typeof schema['type'] === 'string' ? [schema['type']] : choices.flatMap((choice) => choice.types),
    secret: schema['secret'] === true || choices.some((choice) => choice.secret),
    description: typeof schema['description'] === 'string' ? schema['description'] : '',
    default: schema['default'],
    values:
      'const' in schema
        ? [schema['const']]
        : Array.isArray(schema['enum'])
          ? schema['enum']
          : choices.flatMap((c) => c.values),
    members,
    element: isJsonObject(element) ? schemaNode(element) : choices.find((choice) => choice.element)?.element,
    required: new Set(required),
  };
}

/** The node at a path; undefined: unknown. */
export function schemaAt(root: SchemaNode, path: readonly PropertyKey[]): SchemaNode | undefined {
  let node: SchemaNode | undefined = root;
  for (const part of path) {
    if (!node) return undefined;
    node = (typeof part === 'string' ? node.members.get(part) : undefined) ?? node.element;
  }
  return node;
}
