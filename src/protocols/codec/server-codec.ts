// A protocol as spoken to a client: what its codec must do.
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

/** A request rewritten for an upstream that knows less, and how its answer is put back. */
export interface Ported {
  readonly request: CanonicalRequest;
  /** In front of what takes the answer; null when nothing has to be put back. */
  readonly restore: ((next: EventSink) => EventSink) | null;
}

/** The upstream for which a request is rewritten. */
export interface PortTarget {
  readonly protocol: ProtocolName;
  readonly faithful: boolean;
  /** Id of whoever runs it. */
  readonly provider: string;
}

/** Facts that a server-side encoder puts into the answer's envelope. */
export interface AnswerContext {
  /** The generation id that the client sees. */
  readonly id: string;
  /** Unix time in seconds; the same in every frame. */
  readonly createdSeconds: number;
  /** The gateway's id of the model that ran: known once an attempt is committed. */
  model: string;
  readonly request: CanonicalRequest;
  /** Repeat `reasoning` under the name `reasoning_content`, for clients that read only that. */
  readonly reasoningContentMirror: boolean;
  /** True: the client reads the words of the protocol's open variant (`openHeader`), where they differ. */
  readonly readsOpenWords?: boolean | undefined;
  /** Cost of the answer in USD once it is settled; undefined before that, and where a price is unknown. */
  costUsd?: number | undefined;
  /** Tokens of the prompt as long as the upstream has not counted them: asked where a protocol begins with them. */
  readonly estimateInputTokens?: (() => number) | undefined;
  /** Unix time in seconds at which the answer was complete; undefined while it is not, or where nobody says. */
  completedSeconds?: number | undefined;
  /** True: a stream is written as one JSON array (Gemini without `alt=sse`), which is no event stream. */
  readonly streamAsArray?: boolean | undefined;
}

/** Items in the protocol's own raw form, where the gateway keeps conversations in it. */
export interface StoredItems {
  /** A kept answer, as far as clients may rely on it. */
  readonly shape: z.ZodType;
  /**
   * The items of `input` as they are kept: a text becomes a message, and each has an id. No upstream gets an id that is made
   * here.
   * @param generationId of the request that they come with: ids that name it need no entries of their own in the index of items
   */
  identify(input: JsonValue | undefined, generationId: string): readonly JsonObject[];
  /** An item as its client said it: without an id that was made here. */
  asSaid(item: JsonObject): JsonObject;
  /** How the id of an item begins that tells this work of the gateway's own tools. */
  idPrefix(facts: HostedFacts): string;
  /** The id of the kept item that `item` stands for; undefined for one that stands for itself. */
  referenceOf(item: JsonObject): string | undefined;
  /** Reads kept items. Throws GatewayError naming `path[index]` for what is none. */
  decode(items: readonly JsonObject[], path: string): readonly Item[];
  /** A kept item as the API gives it back, without the members that `include` does not ask for. */
  show(item: JsonObject, include: ReadonlySet<string>): JsonObject;
  /** A kept answer as the API gives it back: the same object where nothing of it is hidden. */
  showResponse(response: JsonObject, include: ReadonlySet<string>): JsonObject;
  /** The frames of a kept answer's stream, in order: the place of each is its number. */
  replay(
    response: JsonObject,
    include: ReadonlySet<string>,
    context: CodecContext,
    words?: Pick<AnswerContext, 'readsOpenWords'>,
  ): readonly string[];
}

/** Members that the address of a request gives, in protocols that put them there. */
export interface RequestRoute {
  readonly model?: string | undefined;
  readonly stream?: boolean | undefined;
  /** True: a stream is to be one JSON array. */
  readonly streamAsArray?: boolean | undefined;
  /** True: the body holds several requests that are answered together. */
  readonly batch?: boolean | undefined;
}

/** A member by which a request names its client's last answer, for the upstream to compare with. */
export interface EarlierAnswer {
  /** Id of the generation that a body names; undefined where it names none of the gateway's. */
  namedBy(body: JsonObject): string | undefined;
  /** The members of the body that change where the upstream's own id takes its place. */
  renamed(body: JsonObject, upstreamId: string): Readonly<Record<string, JsonValue>>;
}

/** How to tell of a request of which only a few short members were read. */
export interface OutlineCodec {
  /** Their names. */
  readonly members: ReadonlySet<string>;
  /**
   * The same as `decodeRequest` has for these members; a member that it would refuse is left out.
   * @returns null where the rest of the body is needed to know who shall answer
   */
  decode(members: JsonObject, route?: RequestRoute): RequestOutline | null;
}

/** A stored file, as far as clients are shown it. */
export interface ShownFile {
  readonly id: string;
  readonly filename: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** RFC 3339. */
  readonly createdAt: string;
}

/** How clients of a protocol upload files and are shown them. */
export interface FileShapes {
  /** Purpose of an upload that names none. */
  readonly usualPurpose: string;
  /** Names of query parameters that differ from OpenAI's. */
  readonly names: { readonly after: string };
  encode(file: ShownFile): JsonObject;
  encodeList(files: readonly ShownFile[], hasMore: boolean): JsonObject;
  encodeDeleted(id: string): JsonObject;
}

/** The protocol as spoken to a client. */
export interface ServerCodec {
  /** Addresses at which clients find it. */
  readonly addresses: ClientAddresses;
  /**
   * The one form of opaque reasoning that a client of this protocol can carry. That of other families travels inside
   * it, sealed. Absent: the protocol names the family of each.
   */
  readonly nativeReasoning?: Pick<OpaqueReasoning, 'format' | 'kind'>;
  /**
   * Rewrites a request in terms that every upstream knows, for an upstream that does not know all of this protocol's.
   * Absent: there is nothing that others lack. Throws GatewayError `unsupported` for what cannot be said otherwise.
   */
  portable?(request: CanonicalRequest, upstream: PortTarget, report: Report): Ported;
  /**
   * The answer format that `portable` gives a request which names none, known before it is rewritten: what the answer
   * will be checked by is loaded first. Undefined for none. Absent: it never gives one.
   */
  portableFormat?(request: CanonicalRequest, upstream: PortTarget): ResponseFormat | undefined;
  /**
   * Throws GatewayError `invalid_request` for an output whose call is nowhere in the conversation. Not asked where the
   * client's own bytes go on: who reads those judges them. Absent: the upstream judges in any case.
   */
  readonly requireCalls?: (items: readonly Item[]) => void;
  /** True: its clients may give calls back without their ids. */
  readonly omitsCallIds?: true;
  /** Absent: answers of this protocol are not kept. */
  readonly items?: StoredItems;
  /** Absent: nothing in its requests asks for an answer in the background. */
  readonly background?: BackgroundCodec;
  /** Absent: its clients have no batches. */
  readonly batches?: BatchCodec;
  /** Absent: its clients always send whole conversations. */
  readonly threads?: ThreadCodec;
  /** Absent: no upstream compares answers. */
  readonly earlierAnswer?: EarlierAnswer;
  /** Absent: its clients know files as OpenAI has them, or not at all. */
  readonly files?: FileShapes;
  /** Request header, in lower case, of clients that read an open variant of the protocol. Absent: there is none. */
  readonly openHeader?: string;
  /** Names of the members of a request body that the protocol or the gateway gives a meaning. Absent: nobody asks. */
  readonly members?: ReadonlySet<string>;
  /** Members of a request body that mean something to the gateway: what each takes. Absent: bodies are the vendor's own matter. */
  readonly fields?: readonly Field<string>[];
  /** Absent: no upstream keeps answers for its clients. */
  readonly remoteAnswers?: RemoteAnswers;
  /** Names that its clients have for what reports name. `decodeRequest` gives it to the report. */
  readonly names: ClientNames;
  /** Absent: its requests are always read as a whole. */
  readonly outline?: OutlineCodec;
  /** Throws GatewayError naming every offending field. */
  decodeRequest(body: unknown, route?: RequestRoute): CanonicalRequest;
  /** Objects of the vendor's account that a request names, but for those in the place of media. */
  namedObjects(request: CanonicalRequest): readonly NamedObject[];
  /**
   * Kinds of work that its answers have a place for besides its own raw forms: searches, words that were looked for in a page,
   * pictures that were made, compacted conversations, tokens that were written to a cache, …
   */
  readonly represents: ReadonlySet<HostedFacts['type'] | 'page_pattern' | 'compaction' | 'cache_writes'>;
  /**
   * True: its clients take the last item of an answer for the answer. Reasoning without words does not stand there; the
   * gateway keeps it for the next turn.
   */
  readonly endsInAnswer?: true;
  /** True: a whole answer can tell that it failed, and still hold what was said before. */
  readonly reportsFailure?: true;
  /** The body of a non-streamed answer. */
  encodeResponse(events: CollectedEvents, context: AnswerContext): JsonObject;
  /**
   * @param write takes complete frames, ready for the socket
   * @returns a sink; after `finish` or `error` it writes the end of the stream and ignores what follows
   */
  encodeStream(write: (frames: string) => void, context: AnswerContext): EventSink;
  /** The frame that fills a long silence in a stream that has begun. Absent: a comment line, which readers skip. */
  readonly keepAlive?: string;
  /**
   * Request headers of the client, by lower-case name, that go on to an upstream that speaks the protocol too. No other
   * header of a client ever does. Of each: words of its list that stay here, because they ask for what the gateway does
   * itself. Absent: there are none.
   */
  readonly passedHeaders?: ReadonlyMap<string, ReadonlySet<string>>;
  /** Body of an error answer; `requestId` where the protocol has a place for it. */
  encodeError(error: GatewayError, requestId: string): { readonly status: number; readonly body: JsonObject };
  /** Headers that tell what is left of limits. Absent: as OpenAI has them. */
  encodeLimits?(states: LimitStates): Record<string, string>;
}
