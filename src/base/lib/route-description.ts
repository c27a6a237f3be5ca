// A route of the API as data: its address, what it takes and answers as schemas, and words for people. `/openapi.json` is made
// of these alone. Knows no route.
import type { z } from 'zod';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** Statuses of refusals that a route can have besides those of every route for the same audience. */
export type Refusal = 402 | 404 | 409 | 410 | 412;

/** A parameter of the path, or a request header. */
export interface Parameter {
  readonly description: string;
  /** A value that works anywhere, where there is one. */
  readonly example?: string;
  /** A regular expression that the whole value matches. */
  readonly pattern?: string;
}

export interface RouteDescription {
  readonly method: Method;
  /** Below the bases of its group; parameters in braces. */
  readonly path: string;
  /** True: the last parameter may hold slashes, as ids of models do. */
  readonly isDeep?: true;
  /** Unique; a word that programs can be made of. Of the management API it is made of method and path. */
  readonly id?: string;
  /** Subject of the route: a heading of the reference. */
  readonly tag: string;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  /** Parameters of the path that need more than their names. */
  readonly params?: Readonly<Record<string, Parameter>>;
  /** An object of strings. */
  readonly query?: z.ZodType | undefined;
  /** A query with which it runs. */
  readonly queryExample?: Readonly<Record<string, string>>;
  /** Request headers besides those that name the key. */
  readonly headers?: Readonly<Record<string, Parameter>>;
  /** Absent: there is none. */
  readonly body?: z.ZodType | undefined;
  /** Media type of a body that its handler reads as it arrives. */
  readonly bodyMedia?: 'multipart/form-data' | 'application/json';
  /** Runs against the simulated models; absent where another route has to run before. */
  readonly bodyExample?: unknown;
  /** Null: the answer has no body. */
  readonly answer: z.ZodType | null;
  /** Forms of the answer that are no JSON, by media type, where the request asks for them. */
  readonly alsoAs?: Readonly<Record<string, z.ZodType>>;
  /** Media type of the answer where it is no JSON. */
  readonly media?: string;
  /** Default: 200. */
  readonly status?: 101 | 200 | 201;
  /** JSON bodies of other statuses that are no refusals; null: no body. */
  readonly alsoStatus?: Readonly<Record<number, z.ZodType | null>>;
  readonly refusals?: readonly Refusal[];
  /** Routes that go on from the answer, and where in it their parameters are (runtime expressions of OpenAPI). */
  readonly links?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A description of something that has its address from elsewhere. */
export type Described = Omit<RouteDescription, 'method' | 'path' | 'isDeep' | 'answer'> & {
  readonly answer: z.ZodType;
};

/** The schema of a body, with the name under which the description of the API has it. */
export interface NamedShape {
  readonly name: string;
  readonly schema: z.ZodType;
}
