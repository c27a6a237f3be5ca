// Codec of a protocol for clients.
import type { z } from 'zod';
import type { Field } from '../members/field-table.ts';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type {
  CanonicalRequest,
  ClientNames,
  CollectedEvents,
  EventSink,
  GatewayError,
  HostedFacts,
  Item,
  LimitStates,
  OpaqueReasoning,
  ProtocolName,
  Report,
  RequestOutline,
  ResponseFormat,
} from '../../canonical/index.ts';
import type { BackgroundCodec } from './background-codec.ts';
import type { BatchCodec } from './batch-codec.ts';
import type { ClientAddresses } from './client-addresses.ts';
import type { NamedObject } from '../members/named-objects.ts';
import type { CodecContext } from '../protocol.ts';
import type { RemoteAnswers } from './remote-answers.ts';
import type { ThreadCodec } from './thread-codec.ts';

/** A request rewritten for an upstream with fewer features, and how its answer is converted back. */
export interface Ported {
  readonly request: CanonicalRequest;
  /** Wraps the sink of the answer; null: nothing to convert. */
  readonly restore: ((next: EventSink) => EventSink) | null;
}

/** Upstream for which a request is rewritten. */
export interface PortTarget {
  readonly protocol: ProtocolName;
  readonly faithful: boolean;
  /** Provider id. */
  readonly provider: string;
}

/** Data that an encoder puts into the answer's envelope. */
export interface AnswerContext {
  /** Generation id that the client sees. */
  readonly id: string;
  /** Unix time in seconds; the same in every frame. */
  readonly createdSeconds: number;
  /** The gateway's id of the model that ran. Known once an attempt is committed. */
  model: string;
  readonly request: CanonicalRequest;
  /** Repeat `reasoning` as `reasoning_content`, for clients that read only that. */
  readonly reasoningContentMirror: boolean;
  /** True: the client uses the protocol's open variant (`openHeader`), where the two differ. */
  readonly readsOpenWords?: boolean | undefined;
  /** Cost in USD once it is settled; undefined until then, and if a price is unknown. */
  costUsd?: number | undefined;
  /** Estimates the prompt's tokens until the upstream has counted them, for protocols that begin with this count. */
  readonly estimateInputTokens?: (() => number) | undefined;
  /** Unix time in seconds at which the answer was complete; undefined until then, or if unknown. */
  completedSeconds?: number | undefined;
  /** True: the stream is written as one JSON array instead of an event stream (Gemini without `alt=sse`). */
  readonly streamAsArray?: boolean | undefined;
}

/** Stored items in the protocol's own raw form. */
export interface StoredItems {
  /** Schema of a stored answer, as far as clients can rely on it. */
  readonly shape: z.ZodType;
  /**
   * Returns the items of `input` in stored form: a string becomes a message, and each item gets an id. Ids created here
   * are never sent upstream.
   * @param generationId of the request; ids that contain it need no entry in the index of items
   */
  identify(input: JsonValue | undefined, generationId: string): readonly JsonObject[];
  /** Returns an item as the client sent it, without an id that was created here. */
  withoutMadeId(item: JsonObject): JsonObject;
  /** Returns the id prefix of items for the gateway's own tools. */
  idPrefix(facts: HostedFacts): string;
  /** Returns the id of the stored item that `item` refers to; undefined if it is not a reference. */
  referenceOf(item: JsonObject): string | undefined;
  /** Decodes stored items. @throws GatewayError naming `path[index]` for an invalid one */
  decode(items: readonly JsonObject[], path: string): readonly Item[];
  /** Returns a stored item for the API, without members that `include` does not request. */
  show(item: JsonObject, include: ReadonlySet<string>): JsonObject;
  /** Returns a stored answer for the API; the same object if nothing is hidden. */
  showResponse(response: JsonObject, include: ReadonlySet<string>): JsonObject;
  /** Returns the frames of a stored answer's stream. Their index is their sequence number. */
  replay(
    response: JsonObject,
    include: ReadonlySet<string>,
    context: CodecContext,
    words?: Pick<AnswerContext, 'readsOpenWords'>,
  ): readonly string[];
}

/** Members that are given by a request's address, in protocols that put them there. */
export interface RequestRoute {
  readonly model?: string | undefined;
  readonly stream?: boolean | undefined;
  /** True: the stream is one JSON array. */
  readonly streamAsArray?: boolean | undefined;
  /** True: the body holds several requests that are answered together. */
  readonly batch?: boolean | undefined;
}

/** Member with which a request names the client's previous answer, so that the upstream can compare them. */
export interface EarlierAnswer {
  /** Returns the generation id in a body; undefined if it names no answer of the gateway. */
  namedBy(body: JsonObject): string | undefined;
  /** Returns the members of the body that change when the upstream's own id is inserted. */
  renamed(body: JsonObject, upstreamId: string): Readonly<Record<string, JsonValue>>;
}

/** Creates the outline of a request of which only a few short members were read. */
export interface OutlineCodec {
  /** Names of these members. */
  readonly members: ReadonlySet<string>;
  /**
   * Returns the same as `decodeRequest` for these members, without invalid ones.
   * @returns null if the rest of the body is required for routing
   */
  decode(members: JsonObject, route?: RequestRoute): RequestOutline | null;
}

/** A stored file, as clients see it. */
export interface ShownFile {
  readonly id: string;
  readonly filename: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** File API of a protocol's clients. */
export interface FileShapes {
  /** Purpose of an upload that names none. */
  readonly usualPurpose: string;
  /** Names of query parameters that differ from OpenAI's. */
  readonly names: { readonly after: string };
  encode(file: ShownFile): JsonObject;
  encodeList(files: readonly ShownFile[], hasMore: boolean): JsonObject;
  encodeDeleted(id: string): JsonObject;
}

/** Codec of a protocol for clients. */
export interface ServerCodec {
  /** Addresses at which clients find it. */
  readonly addresses: ClientAddresses;
  /**
   * The one form of opaque reasoning that a client of this protocol can carry. Other families' reasoning travels inside
   * it, sealed. Absent: the protocol names the family of each.
   */
  readonly nativeReasoning?: Pick<OpaqueReasoning, 'format' | 'kind'>;
  /**
   * Rewrites a request for an upstream without all features of this protocol. Absent: other protocols have them all.
   * @throws GatewayError `unsupported` for features without an equivalent
   */
  portable?(request: CanonicalRequest, upstream: PortTarget, report: Report): Ported;
  /**
   * Returns the response format that `portable` gives to a request without one; undefined: none. Known before the
   * rewrite, because the validator is loaded first. Absent: it never adds one.
   */
  portableFormat?(request: CanonicalRequest, upstream: PortTarget): ResponseFormat | undefined;
  /**
   * Checks that every tool output has a call in the conversation. Not used where the client's own bytes are forwarded:
   * there the upstream checks. Absent: the upstream always checks.
   * @throws GatewayError `invalid_request` for an output without a call
   */
  readonly requireCalls?: (items: readonly Item[]) => void;
  /** True: its clients may return calls without their ids. */
  readonly omitsCallIds?: true;
  /** Absent: answers of this protocol are not stored. */
  readonly items?: StoredItems;
  /** Absent: the protocol has no background answers. */
  readonly background?: BackgroundCodec;
  /** Absent: its clients have no batches. */
  readonly batches?: BatchCodec;
  /** Absent: its clients always send whole conversations. */
  readonly threads?: ThreadCodec;
  /** Absent: no upstream compares answers. */
  readonly earlierAnswer?: EarlierAnswer;
  /** Absent: its clients use OpenAI's file API, or none. */
  readonly files?: FileShapes;
  /** Request header, in lower case, of clients that use an open variant of the protocol. Absent: there is none. */
  readonly openHeader?: string;
  /** Names of the body members that the protocol or the gateway defines. Absent: they are not checked. */
  readonly members?: ReadonlySet<string>;
  /** Body members that the gateway interprets, with their types. Absent: the vendor defines the bodies. */
  readonly fields?: readonly Field<string>[];
  /** Absent: no upstream stores answers for its clients. */
  readonly remoteAnswers?: RemoteAnswers;
  /** Names that its clients use in reports. `decodeRequest` passes them to the report. */
  readonly names: ClientNames;
  /** Absent: its requests are always read as a whole. */
  readonly outline?: OutlineCodec;
  /** @throws GatewayError naming every invalid field */
  decodeRequest(body: unknown, route?: RequestRoute): CanonicalRequest;
  /** Returns the objects of the vendor's account that a request names, except media. */
  namedObjects(request: CanonicalRequest): readonly NamedObject[];
  /**
   * Kinds of hosted work that its answers can represent apart from its own raw forms: searches, page patterns, images,
   * compacted conversations, cache writes, …
   */
  readonly represents: ReadonlySet<HostedFacts['type'] | 'page_pattern' | 'compaction' | 'cache_writes'>;
  /**
   * True: its clients take the last item for the answer. Reasoning without text is left out there, and the gateway
   * stores it for the next turn.
   */
  readonly endsInAnswer?: true;
  /** True: a whole answer can report a failure and still contain the output before it. */
  readonly reportsFailure?: true;
  /** Encodes the body of a non-streamed answer. */
  encodeResponse(events: CollectedEvents, context: AnswerContext): JsonObject;
  /**
   * @param write takes complete frames, ready for the socket
   * @returns a sink; after `finish` or `error` it writes the end of the stream and ignores further events
   */
  encodeStream(write: (frames: string) => void, context: AnswerContext): EventSink;
  /** Frame that is sent during a long silence in a stream. Absent: a comment line, which clients skip. */
  readonly keepAlive?: string;
  /**
   * Client request headers, in lower case, that are forwarded to upstreams of the same protocol; others never are. Each
   * has the list values that are removed, because the gateway implements them itself. Absent: none.
   */
  readonly passedHeaders?: ReadonlyMap<string, ReadonlySet<string>>;
  /** Encodes the body of an error; `requestId` is used where the protocol has a member for it. */
  encodeError(error: GatewayError, requestId: string): { readonly status: number; readonly body: JsonObject };
  /** Encodes headers with the remaining limits. Absent: OpenAI's headers. */
  encodeLimits?(states: LimitStates): Record<string, string>;
}
