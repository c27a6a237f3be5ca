// What a route of the management API is: its address, what it takes and answers as schemas, and how it is answered. The
// same schemas check requests and describe them. Knows no route.
import { z } from 'zod';
import type { KeyCommands, ProjectCommands } from '../auth/index.ts';
import { GatewayError, type JsonObject } from '../canonical/index.ts';
import { describeIssues, schemaAt, schemaNode } from '../config/index.ts';
import type { ManagementDependencies } from './dependencies.ts';

/** What a request changed, as the audit log says it: without secrets. */
export interface Change {
  /** What was done to what kind of thing, e.g. `key.create`. */
  readonly action: string;
  /** Id of the thing. */
  readonly target: string;
  /** As it was; null where there was nothing. */
  readonly before: JsonObject | null;
  /** As it is; null where there is nothing any more. */
  readonly after: JsonObject | null;
}

/** Whoever reads an answer that goes on. */
export interface Reader {
  /** Aborted when they leave. */
  readonly signal: AbortSignal;
  /** Lets the connection be silent for as long as it likes. */
  stays(): void;
  /** False once their key or session is no longer good. */
  mayRead(): boolean;
}

/** One request, before its query and body are checked. */
export interface RawCall {
  readonly deps: ManagementDependencies;
  /** What may be done with keys and projects; changes are in the audit log as of who asks. */
  readonly keys: KeyCommands;
  readonly projects: ProjectCommands;
  /** Unix milliseconds. */
  readonly now: number;
  /** A parameter of the path, decoded. */
  readonly param: (name: string) => string;
  readonly query: Readonly<Record<string, string>>;
  /** The body as it was sent; undefined where the route takes none. */
  readonly body: unknown;
  /** The `If-Match` of a change; null where it has none. */
  readonly ifMatch: string | null;
  /** The `Accept` of the request; empty where it has none. */
  readonly accept: string;
  /** Whoever asks, for answers that go on. */
  readonly reader: Reader;
  /** Writes into the audit log what has been changed. To be awaited: it is there before the answer. */
  readonly record: (change: Change) => Promise<void>;
}

/** The same, checked. */
export interface Call<Query, Body> extends Omit<RawCall, 'query' | 'body'> {
  readonly query: Query;
  readonly body: Body;
}

export type Method = 'get' | 'post' | 'patch' | 'delete';
/** Statuses of refusals that a route can have besides those of every route (400, 401, 403, 413, 500, 503). */
export type Refusal = 404 | 409 | 412;

interface Specification<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType> {
  readonly method: Method;
  /** Below `/management`; parameters in braces. */
  readonly path: string;
  /** True: the last parameter may hold slashes, as ids of models do. */
  readonly isDeep?: true;
  /** What it is about: a heading of the reference. */
  readonly tag: string;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  /** Absent: there is none. */
  readonly body?: Body;
  readonly answer: Answer;
  /** Forms of the answer that are no JSON, by media type, where the query or `Accept` asks for them. */
  readonly alsoAs?: Readonly<Record<string, z.ZodType>>;
  /** Its media type, where it is no JSON: the answer is then a text, and made by the route as a whole. */
  readonly media?: string;
  /** Default: 200. */
  readonly status?: 201;
  readonly refusals?: readonly Refusal[];
  /** True: the answer has a `version`, which is its `ETag`. */
  readonly tagged?: true;
  /** True: it changes the version that `If-Match` names, or none. */
  readonly conditional?: true;
  /** True: the same request with the same `Idempotency-Key` is answered once. */
  readonly idempotent?: true;
  readonly run: (
    call: Call<z.output<Query>, z.output<Body>>,
  ) => z.input<Answer> | Response | Promise<z.input<Answer> | Response>;
}

/** A route as those see it who serve and describe all of them. */
export interface Route extends Omit<
  Specification<z.ZodType, z.ZodType, z.ZodType>,
  'run' | 'query' | 'body'
> {
  readonly query: z.ZodType | undefined;
  readonly body: z.ZodType | undefined;
  /** Throws GatewayError `invalid_request` naming the member that is wrong. */
  readonly answerTo: (call: RawCall) => Promise<JsonObject | Response>;
}

const NOTHING = z.strictObject({});

/** Makes a route of its specification. */
export function route<
  Query extends z.ZodType = typeof NOTHING,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodType,
>({ run, query, body, ...rest }: Specification<Query, Body, Answer>): Route {
  return {
    ...rest,
    query,
    body,
    async answerTo(call) {
      const answered = await run({
        ...call,
        query: check(query ?? NOTHING, call.query, 'query') as z.output<Query>,
        body: (body && check(body, call.body, 'body')) as z.output<Body>,
      });
      return answered as JsonObject | Response;
    },
  };
}

/** What the schema makes of a value. Throws GatewayError `invalid_request` naming the first member that is wrong. */
function check(schema: z.ZodType, value: unknown, what: 'query' | 'body'): unknown {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const root = schemaNode(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject);
  const problems = describeIssues(checked.error.issues, (path) => schemaAt(root, path));
  const first = problems[0];
  const text = problems.map(({ path, message }) => `${path || `the ${what}`}: ${message}`).join('; ');
  throw new GatewayError('invalid_request', text, { param: first?.path || undefined });
}
