// What is said of one operation of the API: the data of which the document is made. Knows no operation.
import type { z } from 'zod';

/** Who may ask: a key that may call models, an admin, or everybody. */
export type Audience = 'models' | 'admin' | 'everybody';
/** In whose shape errors are answered; `any`: in that of the client, by which it is known. */
export type ErrorShape = 'openai' | 'anthropic' | 'google' | 'any';

export interface Parameter {
  readonly description: string;
  /** A value that works anywhere, where there is one. */
  readonly example?: string;
}

export interface RequestBody {
  readonly schema: z.ZodType;
  /** Default: JSON. */
  readonly type?: 'multipart/form-data';
  readonly isOptional?: true;
  /** Runs against the simulated models; absent where another operation has to run before. */
  readonly example?: unknown;
}

export interface Operation {
  /** Unique; a word that programs can be made of. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** As clients write it, under the base that most have; parameters in braces. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly audience: Audience;
  /** Absent: OpenAI's. */
  readonly errors?: ErrorShape;
  /** Parameters of the path. */
  readonly params?: Readonly<Record<string, Parameter>>;
  /** An object of strings. */
  readonly query?: z.ZodType | undefined;
  /** A query with which it runs. */
  readonly queryExample?: Readonly<Record<string, string>>;
  /** Request headers besides those that name the key. */
  readonly headers?: Readonly<Record<string, Parameter>>;
  readonly body?: RequestBody | undefined;
  /** Good answers by status; null: there is no body. By media type, which is JSON where only a schema is given. */
  readonly answers: Readonly<Record<number, z.ZodType | Readonly<Record<string, z.ZodType>> | null>>;
  /** Statuses of refusals; those that every operation of its audience can have are added. */
  readonly refusals?: readonly number[];
  /** Operations that go on from the answer, and where in it their parameters are (runtime expressions of OpenAPI). */
  readonly links?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Other paths in the routers' notation that are this operation, which follow from none of the usual bases. */
  readonly alsoAt?: readonly string[];
}
