// Puts the OpenAPI document together. Knows no operation.
import { z } from 'zod';
import { asObject, ERROR_KINDS, type JsonObject, type MutableJsonObject } from '../canonical/index.ts';
import type { ServedRoute } from '../server/routes/served-routes.ts';
import { describedRoutes } from './described-routes.ts';
import type { Audience, ErrorShape, Operation, Parameter } from './operation.ts';
import { anthropicError, anyError, googleError, openaiError } from './shapes.ts';

const SCHEMAS = '#/components/schemas/';
const ERRORS: Readonly<Record<ErrorShape, z.ZodType>> = {
  openai: openaiError,
  anthropic: anthropicError,
  google: googleError,
  any: anyError,
};
/** Statuses that every operation for somebody can have. */
const USUAL_REFUSALS: Readonly<Record<Audience, readonly number[]>> = {
  models: [400, 401, 402, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504],
  admin: [400, 401, 403, 408, 413, 500, 503],
  everybody: [400],
};
/** What HTTP itself has for a case, whatever the kind of error. */
const HTTP_MEANINGS: Readonly<Record<number, string>> = {
  408: 'The body took too long to arrive.',
  412: 'It has another version than the one that `If-Match` names.',
  503: 'The gateway or every endpoint has too much to do; wait for `retry-after`.',
};
const SECURITY: Readonly<Record<Audience, readonly JsonObject[]>> = {
  models: [{ bearer: [] }, { 'x-api-key': [] }, { 'x-goog-api-key': [] }],
  admin: [{ admin: [] }],
  everybody: [],
};

/**
 * The document (OpenAPI 3.1).
 * @param served what the server answers
 * @throws Error where something is served and not described, or the reverse
 */
export function openApiDocument(
  operations: readonly Operation[],
  served: readonly ServedRoute[],
): JsonObject {
  const places = describedRoutes(operations, served);
  const names = schemaNames(operations);
  const refTo = (schema: z.ZodType): JsonObject => ({ $ref: `${SCHEMAS}${names.get(schema) ?? ''}` });
  const paths: Record<string, MutableJsonObject> = {};
  for (const operation of operations) {
    const item = (paths[operation.path] ??= {});
    const others = (places.get(operation) ?? []).filter((path) => path !== operation.path);
    item[operation.method] = operationObject(operation, others, refTo);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dragoman',
      summary: 'A self-hosted LLM gateway: one endpoint in front of every model provider.',
      description:
        'Every path below `/v1` is served below `/api/v1` as well; where else an operation is served is in `x-also-at`.',
      version: '0.1.0',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: { schemas: componentSchemas(names), securitySchemes: SECURITY_SCHEMES },
  };
}

const SECURITY_SCHEMES: JsonObject = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A key that may call models.' },
  'x-api-key': { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same key.' },
  'x-goog-api-key': { type: 'apiKey', in: 'header', name: 'x-goog-api-key', description: 'The same key.' },
  admin: { type: 'http', scheme: 'bearer', description: 'A key of the role `admin`.' },
};

type RefTo = (schema: z.ZodType) => JsonObject;

function operationObject(operation: Operation, others: readonly string[], refTo: RefTo): JsonObject {
  const { id, tag, summary, description, audience, body } = operation;
  const content = body && {
    [body.type ?? 'application/json']: {
      schema: refTo(body.schema),
      ...(body.example !== undefined && { example: body.example as JsonObject }),
    },
  };
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[audience],
    parameters: parametersOf(operation),
    ...(content && { requestBody: { required: !body.isOptional, content } }),
    responses: { ...goodAnswers(operation, refTo), ...refusalsOf(operation, refTo) },
    ...(others.length > 0 && { 'x-also-at': [...others] }),
  };
}

function parametersOf({ params, query, queryExample, headers }: Operation): readonly JsonObject[] {
  const named = (place: 'path' | 'header', given: Readonly<Record<string, Parameter>> = {}): JsonObject[] =>
    Object.entries(given).map(([name, { description, example }]) => ({
      name,
      in: place,
      required: place === 'path',
      description,
      schema: { type: 'string' },
      ...(example !== undefined && { example: place === 'path' ? decodeURIComponent(example) : example }),
    }));
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
  return [...named('path', params), ...asked, ...named('header', headers)];
}

function goodAnswers({ answers, links }: Operation, refTo: RefTo): JsonObject {
  const linked = Object.entries(links ?? {}).map(
    ([operationId, parameters]) => [operationId, { operationId, parameters: { ...parameters } }] as const,
  );
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => {
      const types = answer instanceof z.ZodType ? { 'application/json': answer } : (answer ?? {});
      const content = Object.fromEntries(
        Object.entries(types).map(([type, schema]) => [type, { schema: refTo(schema) }]),
      );
      return [
        status,
        {
          description: status === '101' ? 'The connection is a WebSocket from now on.' : 'As asked.',
          ...(answer !== null && { content }),
          ...(linked.length > 0 && { links: Object.fromEntries(linked) }),
        },
      ];
    }),
  );
}

function refusalsOf(
  { audience, refusals = [], answers, errors = 'openai' }: Operation,
  refTo: RefTo,
): JsonObject {
  const statuses = [...new Set([...USUAL_REFUSALS[audience], ...refusals])]
    .filter((status) => !(status in answers))
    .toSorted((a, b) => a - b);
  const refusal = (description: string): JsonObject => ({
    description,
    content: { 'application/json': { schema: refTo(ERRORS[errors]) } },
  });
  const described = statuses.map((status) => [String(status), refusal(meaningOf(status))] as const);
  // An upstream's own status reaches the client where the request was at fault.
  const rest =
    audience === 'models' ? [['default', refusal('Whatever else an upstream said of the request.')]] : [];
  return Object.fromEntries([...described, ...rest]) as JsonObject;
}

function meaningOf(status: number): string {
  const kind = Object.values(ERROR_KINDS).find((facts) => facts.status === status);
  return HTTP_MEANINGS[status] ?? kind?.meaning ?? 'Refused.';
}

/** Every schema that the document refers to, each with its name. */
function schemaNames(operations: readonly Operation[]): ReadonlyMap<z.ZodType, string> {
  const names = new Map<z.ZodType, string>([
    [openaiError, 'Error'],
    [anthropicError, 'AnthropicError'],
    [googleError, 'GoogleError'],
    [anyError, 'AnyError'],
  ]);
  const add = (schema: z.ZodType, name: string): void => {
    if (!names.has(schema)) names.set(schema, name);
  };
  for (const { id, body, answers } of operations) {
    const name = id[0]?.toUpperCase() + id.slice(1);
    if (body) add(body.schema, `${name}Request`);
    for (const answer of Object.values(answers)) {
      const types = answer instanceof z.ZodType ? [answer] : Object.values(answer ?? {});
      types.forEach((schema, at) => add(schema, at === 0 ? `${name}Answer` : `${name}Answer${at + 1}`));
    }
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

/** Without what says where a schema of its own stands. */
function bare({ $schema: _schema, $id: _id, ...rest }: JsonObject): JsonObject {
  return rest;
}
