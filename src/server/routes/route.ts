// The one kind of route: what it is as data, how it is answered, and the check between. The same schemas check requests and
// describe them. Knows no route.
import { z } from 'zod';
import type { JsonObject } from '../../base/json/index.ts';
import type { RouteDescription } from '../../base/lib/route-description.ts';
import { GatewayError } from '../../canonical/index.ts';
import { describeIssues, schemaAt, schemaNode } from '../../catalog/schema/index.ts';

/** One request, before its query and body are checked. */
export interface RawCall {
  /** A parameter of the path, decoded. */
  readonly param: (name: string) => string;
  readonly query: Readonly<Record<string, string>>;
  /** The body as it was sent; undefined where there is none. */
  readonly body: unknown;
}

/** The same, checked. */
export type Call<Raw extends RawCall, Query, Body> = Omit<Raw, 'query' | 'body'> & {
  readonly query: Query;
  readonly body: Body;
};

type NoQuery = z.ZodType<Record<string, never>>;

/** A route as it is written down. */
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

/** A route as those see it who serve and describe all of them. */
export interface Route<Raw extends RawCall> extends RouteDescription {
  readonly answer: z.ZodType;
  /** Throws GatewayError `invalid_request` naming the member that is wrong. */
  readonly answerTo: (call: Raw) => Promise<JsonObject | Response>;
}

/**
 * Makes what makes the routes of one group.
 * @param noQuery checks the query where a route describes none
 */
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
          // A handler that takes another media type reads the body as it arrives.
          body: (body && !bodyMedia ? check(body, call.body, 'body') : undefined) as z.output<Body>,
        });
        return answered as JsonObject | Response;
      },
    };
  };
}

/** Value as the schema makes it. Throws GatewayError `invalid_request` naming the first member that is wrong. */
function check(schema: z.ZodType, value: unknown, what: 'query' | 'body'): unknown {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const root = schemaNode(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject);
  const problems = describeIssues(checked.error.issues, (path) => schemaAt(root, path));
  const first = problems[0];
  const text = problems.map(({ path, message }) => `${path || `the ${what}`}: ${message}`).join('; ');
  throw new GatewayError('invalid_request', text, { param: first?.path || undefined });
}

/** Whether a request may come without a body. */
export function mayLackBody({ body }: RouteDescription): boolean {
  return body?.safeParse(undefined).success !== false;
}

/** A parameter of a path, and a word behind a colon that ends it: `/batches/{id}:cancel`. */
const VERB = /\/\{(\w+)\}(:\w+)$/;

/** `/keys/{id}` as the router writes it. A parameter with a verb behind it may hold slashes. */
export function routerPath({ path, isDeep }: Pick<RouteDescription, 'path' | 'isDeep'>): string {
  const named = path.replace(VERB, '/:$1{.+$2}');
  const deep = isDeep ? named.replace(/\{(\w+)\}$/, ':$1{.+}') : named;
  return deep.replaceAll(/\/\{(\w+)\}/g, '/:$1');
}

/** Whether a verb ends the path of a route. */
export function hasVerb({ path }: Pick<RouteDescription, 'path'>): boolean {
  return VERB.test(path);
}

/** The value of a parameter, without the verb of its route. */
export function withoutVerb({ path }: Pick<RouteDescription, 'path'>, name: string, value: string): string {
  const [, of, verb = ''] = VERB.exec(path) ?? [];
  return of === name ? value.slice(0, -verb.length) : value;
}
