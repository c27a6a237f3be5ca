// Where clients of a protocol find it, what they ask for there, and by what a request of theirs is known where its path
// does not tell. Knows nothing of who answers.
import type { JsonObject } from '../canonical/index.ts';
import type { RequestRoute } from './server-codec.ts';

/** What a client asks for. */
export interface ClientOperation {
  /** Name in the records. */
  readonly api: string;
  /**
   * `answer`: what a model says; `embed`: vectors; `count`: the tokens of a request; `compact`: a summary in the place of
   * a conversation that the gateway keeps.
   */
  readonly does: 'answer' | 'embed' | 'count' | 'compact';
  /** What the address says. */
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
  /** What is asked for there, or how it is read from the address; then undefined is nothing that is served. */
  readonly operation: ClientOperation | ((address: ClientAddress) => ClientOperation | undefined);
  /** One sentence for whoever asked for nothing that is served. */
  readonly hint?: string;
}

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
}

/** What can be seen of a request before its body. */
export interface RequestHead {
  /** Reads a header by lower-case name. */
  readonly header: (name: string) => string | null;
  readonly url: URL;
}

/** Where clients of a protocol find it. */
export interface ClientAddresses {
  /** Where they look for it besides the gateway's own bases. */
  readonly bases?: readonly string[];
  readonly routes: readonly ClientRoute[];
  /** Headers that clients may write into the query instead: header to parameter. */
  readonly headersInQuery?: Readonly<Record<string, string>>;
  /** True for what only its own clients send. Absent: nothing tells them. */
  isClient?(head: RequestHead): boolean;
  /** True for a body that only its requests have. Absent: none is known by its body. */
  looksOwn?(body: JsonObject, header: RequestHead['header']): boolean;
  /** Absent: its clients read the gateway's own list. */
  readonly models?: ModelLists;
}
