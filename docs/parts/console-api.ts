// The types by which the console knows the management API, made of the same schemas as `/openapi.json`.
import { asArray, asObject, asString, type JsonObject, type JsonValue } from '../../src/base/json/index.ts';
import { MANAGEMENT } from '../../src/operations/management/index.ts';
import { openApiDocument } from '../../src/operations/openapi/document.ts';
import { servedBy } from '../../src/server/routes/served-routes.ts';

const REF = '#/components/schemas/';

/** A TypeScript file: a type for each named schema, and `Operations` by method and path. */
export function renderConsoleApi(): string {
  const document = openApiDocument(servedBy(MANAGEMENT));
  const described = asObject(asObject(document['components'])['schemas']);
  const schemas = Object.fromEntries(
    Object.entries(described).map(([name, schema]) => [typeName(name), schema]),
  );
  const operations = Object.entries(asObject(document['paths'])).flatMap(([path, item]) =>
    Object.entries(asObject(item)).map(([method, operation]) =>
      operationType(
        `${method.toUpperCase()} ${path.slice(MANAGEMENT.bases[0]?.length)}`,
        asObject(operation),
      ),
    ),
  );
  const used = reachable(operations.join('\n'), schemas);
  const types = [...used].toSorted().map((name) => `export type ${name} = ${typeOf(schemas[name])};\n`);
  return [
    '// The management API as types. Made of its description by `npm run docs`: not to be edited.\n',
    ...types,
    `/** Operations by method and path below \`/v1/management\`. */\nexport interface Operations {\n${operations.join('')}}\n`,
  ].join('\n');
}

function operationType(name: string, { parameters, requestBody, responses }: JsonObject): string {
  const query = asArray(parameters)
    .map(asObject)
    .filter((parameter) => parameter['in'] === 'query');
  const members = query.map(
    (parameter) =>
      `${key(asString(parameter['name']) ?? '')}${parameter['required'] === true ? '' : '?'}: ${typeOf(parameter['schema'])} | undefined`,
  );
  const body = requestBody === undefined ? 'undefined' : typeOf(contentOf(requestBody));
  const good = Object.entries(asObject(responses)).find(([status]) => status.startsWith('2'))?.[1];
  return `  '${name}': {\n    query: { ${members.join('; ')} };\n    body: ${body};\n    answer: ${typeOf(contentOf(good))};\n  };\n`;
}

function contentOf(value: JsonValue | undefined): JsonValue | undefined {
  return asObject(asObject(asObject(value)['content'])['application/json'])['schema'];
}

/** Names in a text of types, and all that those lead to. */
function reachable(text: string, schemas: JsonObject): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (part: string): void => {
    for (const [name] of part.matchAll(/\b\w+\b/g))
      if (Object.hasOwn(schemas, name) && !found.has(name)) {
        found.add(name);
        look(typeOf(schemas[name]));
      }
  };
  look(text);
  return found;
}

/** The type of what a JSON Schema allows; what it says of numbers and lengths is left to the server. */
function typeOf(value: JsonValue | undefined): string {
  const schema = asObject(value);
  const ref = asString(schema['$ref']);
  if (ref !== undefined) return typeName(ref.slice(REF.length));
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) return union(schema['enum'].map((each) => JSON.stringify(each)));
  for (const several of ['anyOf', 'oneOf'])
    if (Array.isArray(schema[several])) return union(asArray(schema[several]).map(typeOf));
  if (Array.isArray(schema['allOf'])) return asArray(schema['allOf']).map(typeOf).join(' & ');
  if (Array.isArray(schema['type'])) return union(schema['type'].map((type) => typeOf({ ...schema, type })));
  switch (schema['type']) {
    case 'object':
      return objectType(schema);
    case 'array':
      if (Array.isArray(schema['prefixItems']))
        return `readonly [${schema['prefixItems'].map(typeOf).join(', ')}]`;
      return `readonly (${typeOf(schema['items'])})[]`;
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema['type'];
    default:
      return 'unknown';
  }
}

function objectType(schema: JsonObject): string {
  const required = new Set(asArray(schema['required']));
  const members = Object.entries(asObject(schema['properties'])).map(([name, member]) =>
    required.has(name)
      ? `readonly ${key(name)}: ${typeOf(member)}`
      : `readonly ${key(name)}?: ${typeOf(member)} | undefined`,
  );
  const rest = schema['additionalProperties'];
  if (members.length === 0)
    return rest === undefined || rest === false
      ? 'Readonly<Record<string, unknown>>'
      : `Readonly<Record<string, ${typeOf(rest)}>>`;
  // Other members are not typed: an index would hide a name that is mistyped.
  return `{ ${members.join('; ')} }`;
}

/** Names of schemas are those of addresses, which may have hyphens. */
function typeName(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function key(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
