// Description of one API route as data: address, schemas of request and response, and texts. `/openapi.json` is generated
// from these alone.
import type { z } from 'zod';

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** Error statuses of a route, in addition to those that all routes for the same audience have. */
export type Refusal = 402 | 404 | 409 | 410 | 412;

/** A parameter of the path, or a request header. */
export interface Parameter {
  readonly description: string;
  /** A value that works in every installation, if there is one. */
  readonly example?: string;
  /** Regular expression that the whole value must match. */
  readonly pattern?: string;
}

export interface RouteDescription {
  readonly method: Method;
  /** Path below the bases of its group; parameters in braces. */
  readonly path: string;
  /** True: the last parameter may contain slashes, as model ids do. */
  readonly isDeep?: true;
  /** Unique operation id, for generated clients. Absent in the management API: method and path give it. */
  readonly id?: string;
  /** Heading in the reference. */
  readonly tag: string;
  /** One sentence. */
  readonly summary: string;
  readonly description?: string;
  /** Path parameters that need more than a name. */
  readonly params?: Readonly<Record<string, Parameter>>;
  /** An object of strings. */
  readonly query?: z.ZodType | undefined;
  /** Example of a query that works. */
  readonly queryExample?: Readonly<Record<string, string>>;
  /** Request headers other than those for the API key. */
  readonly headers?: Readonly<Record<string, Parameter>>;
  /** Absent: the request has no body. */
  readonly body?: z.ZodType | undefined;
  /** Media type of a body that the handler reads as a stream. */
  readonly bodyMedia?: 'multipart/form-data' | 'application/json' | 'application/octet-stream';
  /** Example that works with the simulated models. Absent if it depends on another route's response. */
  readonly bodyExample?: unknown;
  /** Null: the response has no body. */
  readonly answer: z.ZodType | null;
  /** Other forms of the response by media type, sent if the request asks for them. */
  readonly alsoAs?: Readonly<Record<string, z.ZodType>>;
  /** Media type of the response if it is not JSON. */
  readonly media?: string;
  /** Default: 200. */
  readonly status?: 101 | 200 | 201;
  /** Bodies of other statuses that are not errors; null: no body. */
  readonly alsoStatus?: Readonly<Record<number, z.ZodType | null>>;
  readonly refusals?: readonly Refusal[];
  /** Follow-up routes, and where the response holds their parameters (OpenAPI runtime expressions). */
  readonly links?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** A description whose address is given elsewhere. */
export type Described = Omit<RouteDescription, 'method' | 'path' | 'isDeep' | 'answer'> & {
  readonly answer: z.ZodType;
};

/** Schema of a body, and its name in the OpenAPI document. */
export interface NamedShape {
  readonly name: string;
  readonly schema: z.ZodType;
}
