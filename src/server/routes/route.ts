// Definition of routes: description, validation and handler. The same schemas validate requests and describe them.
import { z } from 'zod';
import type { JsonObject } from '../../base/json/index.ts';
import type { RouteDescription } from '../../base/lib/route-description.ts';
import { GatewayError } from '../../canonical/index.ts';
import { describeIssues, schemaAt, schemaNode } from '../../catalog/schema/index.ts';

/** A request before validation of query and body. */
export interface RawCall {
  /** A parameter of the path, decoded. */
  readonly param: (name: string) => string;
  readonly query: Readonly<Record<string, string>>;
  /** The body as it was sent. Undefined: none. */
  readonly body: unknown;
}

/** The same after validation. */
export type Call<Raw extends RawCall, Query, Body> = Omit<Raw, 'query' | 'body'> & {
  readonly query: Query;
  readonly body: Body;
};

type NoQuery = z.ZodType<Record<string, never>>;

/** Specification of a route. */
export interface Specification<
  Raw extends RawCall,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> extends RouteDescription {
  readonly query?: Query | undefined;
  readonly body?: Body | undefined;
  readonly answer: Answer;
  readonly run: (
    call: Call<Raw, z.output<Query>, z.output<Body>>,
  ) => z.input<Answer> | Response | Promise<z.input<Answer> | Response>;
}

/** A route as seen by the router and the API description. */
export interface Route<Raw extends RawCall> extends RouteDescription {
  readonly answer: z.ZodType;
  /** Throws GatewayError `invalid_request` naming the invalid member. */
  readonly answerTo: (call: Raw) => Promise<JsonObject | Response>;
}

/** Returns a factory for the routes of a group. @param noQuery validates the query if a route describes none */
export function routesOf<Raw extends RawCall>(noQuery: NoQuery) {
  return <
    Query extends z.ZodType = NoQuery,
    Body extends z.ZodType = z.ZodUndefined,
    Answer extends z.ZodType = z.ZodType,
  >({
    run,
    ...description
  }: Specification<Raw, Query, Body, Answer>): Route<Raw> => {
    const { query, body, bodyMedia } = description;
    return {
      ...description,
      async answerTo(call) {
        const answered = await run({
          ...call,
          query: check(query ?? noQuery, call.query, 'query') as z.output<Query>,
          // A handler for another media type streams the body itself.
          body: (body && !bodyMedia ? check(body, call.body, 'body') : undefined) as z.output<Body>,
        });
        return answered as JsonObject | Response;
      },
    };
  };
}

/** Validates a value. Throws GatewayError `invalid_request` naming the first invalid member. */
function check(schema: z.ZodType, value: unknown, what: 'query' | 'body'): unknown {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const root = schemaNode(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject);
  const problems = describeIssues(checked.error.issues, (path) => schemaAt(root, path));
  const first = problems[0];
  const text = problems.map(({ path, message }) => `${path || `the ${what}`}: ${message}`).join('; ');
  throw new GatewayError('invalid_request', text, { param: first?.path || undefined });
}

/** True when the body is optional. */
export function mayLackBody({ body }: RouteDescription): boolean {
  return body?.safeParse(undefined).success !== false;
}

/** A path parameter with a final verb after a colon: `/batches/{id}:cancel`. */
const VERB = /\/\{(\w+)\}(:\w+)$/;

/** `/keys/{id}` in the router's syntax. A parameter followed by a verb may contain slashes. */
export function routerPath({ path, isDeep }: Pick<RouteDescription, 'path' | 'isDeep'>): string {
  const named = path.replace(VERB, '/:$1{.+$2}');
  const deep = isDeep ? named.replace(/\{(\w+)\}$/, ':$1{.+}') : named;
  return deep.replaceAll(/\/\{(\w+)\}/g, '/:$1');
}

/** True when the path ends in a verb. */
export function hasVerb({ path }: Pick<RouteDescription, 'path'>): boolean {
  return VERB.test(path);
}

/** Value of a parameter, without the verb of its route. */
export function withoutVerb({ path }: Pick<RouteDescription, 'path'>, name: string, value: string): string {
  const [, of, verb = ''] = VERB.exec(path) ?? [];
  return of === name ? value.slice(0, -verb.length) : value;
}
