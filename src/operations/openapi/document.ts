// Assembles the OpenAPI document from the served routes.
import { z } from 'zod';
import { asObject, type JsonObject, type MutableJsonObject } from '../../base/json/index.ts';
import { ERROR_KINDS } from '../../canonical/index.ts';
import { VERSION } from '../../base/lib/version.ts';
import type { Parameter, RouteDescription } from '../../base/lib/route-description.ts';
import { servedProtocols } from '../../protocols/index.ts';
import { mayLackBody, routerPath } from '../../server/routes/route.ts';
import type { Audience, ErrorShape, ServedRoute } from '../../server/routes/served-routes.ts';

const SCHEMAS = '#/components/schemas/';
/** Error schemas of the protocols. */
const ERRORS = [...new Set(servedProtocols.map(({ server }) => server.addresses.errors))];
/** Errors of routes that clients of several protocols use. */
const ANY_ERROR = z.union(ERRORS.map(({ schema }) => schema));
/** Error statuses that every operation of an audience can return. */
const USUAL_REFUSALS: Readonly<Record<Audience, readonly number[]>> = {
  models: [400, 401, 402, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504],
  admin: [400, 401, 403, 408, 413, 500, 503],
  everybody: [400],
};
/** Descriptions of statuses with a fixed meaning in HTTP. */
const HTTP_MEANINGS: Readonly<Record<number, string>> = {
  408: 'The body did not arrive in time.',
  412: 'The object has a different version than `If-Match`.',
  503: 'The gateway or all endpoints are overloaded; wait for `retry-after`.',
};
const SECURITY: Readonly<Record<Audience, readonly JsonObject[]>> = {
  models: [{ bearer: [] }, { 'x-api-key': [] }, { 'x-goog-api-key': [] }],
  admin: [{ admin: [] }],
  everybody: [],
};

/** A route, under its main path. */
interface Operation extends RouteDescription {
  readonly id: string;
  readonly audience: Audience;
  readonly errors: ErrorShape;
  /** Alias paths. */
  readonly alsoAt: readonly string[];
}

/** The document (OpenAPI 3.1). */
export function openApiDocument(served: readonly ServedRoute[]): JsonObject {
  const operations = served.flatMap(operationsOf);
  const names = schemaNames(operations);
  const refTo = (schema: z.ZodType): JsonObject => ({ $ref: `${SCHEMAS}${names.get(schema) ?? ''}` });
  const paths: Record<string, MutableJsonObject> = {};
  for (const operation of operations)
    (paths[operation.path] ??= {})[operation.method] = operationObject(operation, refTo);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dragoman',
      summary: 'A self-hosted LLM gateway: one endpoint in front of every model provider.',
      description:
        'Every path below `/v1` is also served below `/api/v1`. `x-also-at` lists other paths of an operation.',
      version: VERSION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { schemas: componentSchemas(names), securitySchemes: SECURITY_SCHEMES },
  };
}

function operationsOf({ describes, audience, errors, paths }: ServedRoute): readonly Operation[] {
  return describes().map((route) => {
    const whole = routerPath(route);
    const alsoAt = paths.filter((path) => path !== whole).map(openPath);
    return { ...route, id: route.id ?? `${route.method}${route.path}`, audience, errors, alsoAt };
  });
}

/** Converts a router path such as `/files/:id` to OpenAPI's form. */
function openPath(path: string): string {
  return path.replaceAll(/:(\w+)(?:\{\.\+\})?/g, '{$1}');
}

const SECURITY_SCHEMES: JsonObject = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A key with the role `models`.' },
  'x-api-key': { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same key.' },
  'x-goog-api-key': { type: 'apiKey', in: 'header', name: 'x-goog-api-key', description: 'The same key.' },
  admin: { type: 'http', scheme: 'bearer', description: 'A key with the role `admin`.' },
};

type RefTo = (schema: z.ZodType) => JsonObject;

function operationObject(operation: Operation, refTo: RefTo): JsonObject {
  const { id, tag, summary, description, audience, body, bodyMedia, bodyExample, alsoAt } = operation;
  const content = body && {
    [bodyMedia ?? 'application/json']: {
      schema: refTo(body),
      ...(bodyExample !== undefined && { example: bodyExample as JsonObject }),
    },
  };
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[audience],
    parameters: parametersOf(operation),
    ...(content && { requestBody: { required: !mayLackBody(operation), content } }),
    responses: { ...goodAnswers(operation, refTo), ...refusalsOf(operation, refTo) },
    ...(alsoAt.length > 0 && { 'x-also-at': [...alsoAt] }),
  };
}

function parametersOf({ path, params, query, queryExample, headers = {} }: Operation): readonly JsonObject[] {
  const named = (place: 'path' | 'header', given: Readonly<Record<string, Parameter>>): JsonObject[] =>
    Object.entries(given).map(([name, { description, example, pattern }]) => ({
      name,
      in: place,
      required: place === 'path',
      description,
      schema: { type: 'string', ...(pattern !== undefined && { pattern }) },
      ...(example !== undefined && { example: place === 'path' ? decodeURIComponent(example) : example }),
    }));
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']): [string, Parameter] => [
    name,
    params?.[name] ?? { description: `The ${name}.` },
  ]);
  const schema = query ? jsonSchema(query) : {};
  const required = new Set(schema['required'] as readonly string[] | undefined);
  const asked = Object.entries(asObject(schema['properties'])).map(([name, member]) => {
    const { description, ...rest } = asObject(member);
    const example = queryExample?.[name];
    return {
      name,
      in: 'query',
      required: required.has(name),
      ...(description !== undefined && { description }),
      schema: rest,
      ...(example !== undefined && { example }),
    };
  });
  return [...named('path', Object.fromEntries(inPath)), ...asked, ...named('header', headers)];
}

/** Successful responses by status and media type; null: no body. */
function answersOf({
  status = 200,
  media = 'application/json',
  answer,
  alsoAs,
  alsoStatus = {},
}: RouteDescription): Readonly<Record<string, Readonly<Record<string, z.ZodType>> | null>> {
  const others = Object.entries(alsoStatus).map(([also, schema]) => [
    also,
    schema && { 'application/json': schema },
  ]);
  return { [status]: answer && { [media]: answer, ...alsoAs }, ...Object.fromEntries(others) };
}

function goodAnswers(operation: Operation, refTo: RefTo): JsonObject {
  const links = Object.entries(operation.links ?? {}).map(
    ([operationId, parameters]) => [operationId, { operationId, parameters: { ...parameters } }] as const,
  );
  return Object.fromEntries(
    Object.entries(answersOf(operation)).map(([status, types]) => {
      const content = Object.entries(types ?? {}).map(([type, schema]) => [type, { schema: refTo(schema) }]);
      return [
        status,
        {
          description: status === '101' ? 'The connection is upgraded to a WebSocket.' : 'As asked.',
          ...(types && { content: Object.fromEntries(content) as JsonObject }),
          ...(links.length > 0 && { links: Object.fromEntries(links) }),
        },
      ];
    }),
  );
}

function refusalsOf(operation: Operation, refTo: RefTo): JsonObject {
  const { audience, refusals = [], errors } = operation;
  const answers = answersOf(operation);
  const shape = errors === 'any' ? ANY_ERROR : errors.schema;
  const statuses = [...new Set([...USUAL_REFUSALS[audience], ...refusals])]
    .filter((status) => !(status in answers))
    .toSorted((a, b) => a - b);
  const refusal = (description: string): JsonObject => ({
    description,
    content: { 'application/json': { schema: refTo(shape) } },
  });
  const described = statuses.map((status) => [String(status), refusal(meaningOf(status))] as const);
  // For client errors, the upstream's own status is passed to the client.
  const rest = audience === 'models' ? [['default', refusal('Other members of the upstream error.')]] : [];
  return Object.fromEntries([...described, ...rest]) as JsonObject;
}

function meaningOf(status: number): string {
  const kind = Object.values(ERROR_KINDS).find((facts) => facts.status === status);
  return HTTP_MEANINGS[status] ?? kind?.meaning ?? 'Refused.';
}

/** Names of all schemas that the document refers to. */
function schemaNames(operations: readonly Operation[]): ReadonlyMap<z.ZodType, string> {
  const names = new Map<z.ZodType, string>([
    ...ERRORS.map(({ schema, name }) => [schema, name] as const),
    [ANY_ERROR, 'AnyError'],
  ]);
  const add = (schema: z.ZodType, name: string): void => {
    if (!names.has(schema)) names.set(schema, name);
  };
  for (const operation of operations) {
    const { id, body } = operation;
    const name = id[0]?.toUpperCase() + id.slice(1);
    if (body) add(body, `${name}Request`);
    const schemas = Object.values(answersOf(operation)).flatMap((types) => Object.values(types ?? {}));
    schemas.forEach((schema, at) => add(schema, at === 0 ? `${name}Answer` : `${name}Answer${at + 1}`));
  }
  return names;
}

function componentSchemas(names: ReadonlyMap<z.ZodType, string>): JsonObject {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => SCHEMAS + id,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, bare(schema as JsonObject)]),
  );
}

function jsonSchema(schema: z.ZodType): JsonObject {
  return bare(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject);
}

/** A schema without its identifying members. */
function bare({ $schema: _schema, $id: _id, ...rest }: JsonObject): JsonObject {
  return rest;
}
