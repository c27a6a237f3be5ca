// Addresses of a protocol for clients, what they ask for there, and by what a request of theirs is known where its path
// does not tell. Knows nothing of who answers.
import type { z } from 'zod';
import type { JsonObject } from '../../base/json/index.ts';
import type { Described, NamedShape, RouteDescription } from '../../base/lib/route-description.ts';
import type { RequestRoute } from './server-codec.ts';

/** Operation that a client asks for. */
export interface ClientOperation {
  /** Name in the records. */
  readonly api: string;
  /**
   * `answer`: what a model says; `compact`: a summary in the place of a conversation that the gateway keeps; else the name
   * of a task.
   */
  readonly does: string;
  /** Form of its bodies: `multipart/form-data`, whose fields are read as an object of texts. Absent: JSON. */
  readonly takes?: 'form';
  /** Members that the address gives. */
  readonly route?: RequestRoute;
}

/** The address of a request, where more than its path counts. */
export interface ClientAddress {
  /** The path, decoded. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** A path to which clients POST. */
export interface ClientRoute {
  /** With a `*` at its end: every path that begins so. */
  readonly path: string;
  /** True: the path is whole. Absent: it stands below each base. */
  readonly isWhole?: true;
  /** Operation of the address, or a function that reads it from the address; undefined then is nothing that is served. */
  readonly operation: ClientOperation | ((address: ClientAddress) => ClientOperation | undefined);
  /** Names of what may be asked for there, for those who asked for nothing that is served. Absent: the path says it all. */
  readonly methods?: readonly string[];
  /**
   * Entry in the description of the API. The same function at another path says that the path is an alias. Where an
   * address decides what is asked for, each operation has a path of its own.
   */
  readonly describes: () => ClientDescription | readonly RouteDescription[];
}

/** The description of a POST. */
export type ClientDescription = Described & { readonly id: string };

/** A model as lists tell of it. */
export interface ListedModel {
  readonly id: string;
  readonly displayName: string;
  /** ISO 8601, in UTC. */
  readonly createdAt: string;
  /** Tokens; null when unknown. */
  readonly contextLength: number | null;
  /** Tokens; null when unknown. */
  readonly maxOutputTokens: number | null;
  readonly reasons: boolean;
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
}

/** The models that a key may use, in the shape in which clients of a protocol read them. */
export interface ModelLists {
  /** Whole paths of lists that no other protocol has; below each is one model. */
  readonly paths: readonly string[];
  /** The id in the decoded path of one model, where it is not simply what follows `/models/`. */
  idIn?(path: string): string;
  /** Throws GatewayError `invalid_request` for a query that cannot be followed. */
  encodeList(models: readonly ListedModel[], query: URLSearchParams): JsonObject;
  encodeModel(model: ListedModel): JsonObject;
  /** Their shapes. */
  readonly shapes: { readonly list: z.ZodType; readonly model: z.ZodType };
  /** Entries of `paths` in the description of the API. Absent: there are none. */
  readonly described?: { readonly list: Described; readonly model: Described };
}

/** Parts of a request that can be seen before its body. */
export interface RequestHead {
  /** Reads a header by lower-case name. */
  readonly header: (name: string) => string | null;
  readonly url: URL;
}

/** A part of a known API that the gateway does not serve. */
export interface UnservedPart {
  /** Matches the whole decoded path. Served paths are looked for first. */
  readonly match: RegExp;
  /** A sentence: the nearest thing that is served. */
  readonly nearest: string;
}

/** Addresses at which clients of a protocol find it. */
export interface ClientAddresses {
  /** Addresses besides the gateway's own bases at which they look for it. */
  readonly bases?: readonly string[];
  readonly routes: readonly ClientRoute[];
  /** Parts of its owner's API that are not served, and of others whose clients read its errors. */
  readonly unserved?: readonly UnservedPart[];
  /** The shape of its errors. */
  readonly errors: NamedShape;
  /** Headers that clients may write into the query instead: header to parameter. */
  readonly headersInQuery?: Readonly<Record<string, string>>;
  /** True for what only its own clients send. Absent: nothing tells them. */
  isClient?(head: RequestHead): boolean;
  /** True for a body that only its requests have. Absent: none is known by its body. */
  looksOwn?(body: JsonObject, header: RequestHead['header']): boolean;
  /** Absent: its clients read the gateway's own list. */
  readonly models?: ModelLists;
}
