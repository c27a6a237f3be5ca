// Addresses of a protocol for clients, the operations there, and how a request is recognized if its path is ambiguous.
import type { z } from 'zod';
import type { JsonObject } from '../../base/json/index.ts';
import type { Described, NamedShape, RouteDescription } from '../../base/lib/route-description.ts';
import type { RequestRoute } from './server-codec.ts';

/** Operation that a client requests. */
export interface ClientOperation {
  /** Name in the records. */
  readonly api: string;
  /** `answer`: a model's answer. `compact`: a summary that replaces a stored conversation. Otherwise the name of a task. */
  readonly does: string;
  /** Form of its bodies: `multipart/form-data`, whose fields are read as an object of strings. Absent: JSON. */
  readonly takes?: 'form';
  /** Members that are given by the address. */
  readonly route?: RequestRoute;
}

/** Address of a request, for operations that depend on more than the path. */
export interface ClientAddress {
  /** Decoded path. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** A path to which clients send POST requests. */
export interface ClientRoute {
  /** Path. A trailing `*` matches every path with this prefix. */
  readonly path: string;
  /** True: the path is absolute. Absent: it is relative to each base. */
  readonly isWhole?: true;
  /** The operation, or a function that finds it from the address; undefined: not served. */
  readonly operation: ClientOperation | ((address: ClientAddress) => ClientOperation | undefined);
  /** Names of the operations there, for the error of an unknown one. Absent: the path determines the operation. */
  readonly methods?: readonly string[];
  /**
   * Entry in the API description. Another path with the same function is an alias. If the address determines the
   * operation, each operation has a path of its own.
   */
  readonly describes: () => ClientDescription | readonly RouteDescription[];
}

/** Description of a POST operation. */
export type ClientDescription = Described & { readonly id: string };

/** A model in lists. */
export interface ListedModel {
  readonly id: string;
  readonly displayName: string;
  /** ISO 8601, in UTC. */
  readonly createdAt: string;
  /** Tokens; null: unknown. */
  readonly contextLength: number | null;
  /** Tokens; null: unknown. */
  readonly maxOutputTokens: number | null;
  readonly reasons: boolean;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
}

/** Lists of the models that a key can use, in the protocol's form. */
export interface ModelLists {
  /** Absolute paths of lists that only this protocol has. Single models are below them. */
  readonly paths: readonly string[];
  /** Reads the model id from a decoded path, where it is not simply what follows `/models/`. */
  idIn?(path: string): string;
  /** @throws GatewayError `invalid_request` for an unsupported query */
  encodeList(models: readonly ListedModel[], query: URLSearchParams): JsonObject;
  encodeModel(model: ListedModel): JsonObject;
  /** Their schemas. */
  readonly shapes: { readonly list: z.ZodType; readonly model: z.ZodType };
  /** Entries of `paths` in the API description. Absent: none. */
  readonly described?: { readonly list: Described; readonly model: Described };
}

/** Parts of a request that are available before its body. */
export interface RequestHead {
  /** Reads a header by lower-case name. */
  readonly header: (name: string) => string | null;
  readonly url: URL;
}

/** Part of a known API that the gateway does not serve. */
export interface UnservedPart {
  /** Matches the whole decoded path. Served paths take precedence. */
  readonly match: RegExp;
  /** Sentence that names the closest served alternative. */
  readonly nearest: string;
}

/** Addresses at which clients find a protocol. */
export interface ClientAddresses {
  /** Base paths in addition to the gateway's own. */
  readonly bases?: readonly string[];
  readonly routes: readonly ClientRoute[];
  /** Parts that are not served of its owner's API, and of other APIs whose clients read its errors. */
  readonly unserved?: readonly UnservedPart[];
  /** Schema of its errors. */
  readonly errors: NamedShape;
  /** Headers that clients can send as query parameters: header to parameter. */
  readonly headersInQuery?: Readonly<Record<string, string>>;
  /** True for requests that only its own clients send. Absent: they cannot be recognized. */
  isClient?(head: RequestHead): boolean;
  /** True for a body that only its requests have. Absent: bodies cannot be recognized. */
  looksOwn?(body: JsonObject, header: RequestHead['header']): boolean;
  /** Absent: its clients read the gateway's own list. */
  readonly models?: ModelLists;
}
