// What a protocol implements. Codecs are pure and synchronous: JSON in, canonical out, and back. No I/O, no
// clock, no configuration; ids and time are injected.
import type {
  CanonicalRequest,
  ClientNames,
  CollectedEvents,
  Embeddings,
  EmbeddingsRequest,
  EventSink,
  FinishEvent,
  GatewayError,
  Item,
  JsonObject,
  JsonValue,
  LimitNotice,
  OpaqueReasoning,
  Parameter,
  ProtocolName,
  Report,
  Role,
  Target,
  Usage,
  Vector,
} from '../canonical/index.ts';
import type { NamedObject } from './named-objects.ts';

/** A request rewritten for an upstream that knows less, and how its answer is put back. */
export interface Ported {
  readonly request: CanonicalRequest;
  /** In front of what takes the answer; null when nothing has to be put back. */
  readonly restore: ((next: EventSink) => EventSink) | null;
}

/** What codecs may not make themselves. */
export interface CodecContext {
  /** A new id: the prefix followed by random characters that no other id has. */
  newId(prefix: string): string;
  /** Unix time in seconds. */
  nowSeconds(): number;
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
  /** Cost of the answer in USD once it is settled; undefined before that, and where a price is unknown. */
  costUsd?: number | undefined;
  /** Tokens of the prompt as long as the upstream has not counted them: asked where a protocol begins with them. */
  readonly estimateInputTokens?: (() => number) | undefined;
  /** Unix time in seconds at which the answer was complete; undefined while it is not, or where nobody says. */
  completedSeconds?: number | undefined;
  /** True: a stream is written as one JSON array (Gemini without `alt=sse`), which is no event stream. */
  readonly streamAsArray?: boolean | undefined;
}

/** Reads the frames of one upstream stream. */
export interface StreamDecoder {
  /**
   * Takes one server-sent event.
   * @param event the `event:` field, '' when absent
   * @param data the `data:` lines, joined
   */
  frame(event: string, data: string): void;
  /** The upstream closed the stream. Emits `finish` if the answer was complete, else `error`: a cut is never a normal end. */
  end(): void;
}

/** The protocol as spoken to an upstream. */
export interface UpstreamCodec {
  /** Path below the provider's base URL, e.g. `/chat/completions`. */
  readonly path: string;
  /**
   * The path where it depends on the request; it then takes the place of `path`.
   * @param model the upstream's own name
   * @param stream true when the upstream is asked to stream
   */
  pathFor?(model: string, stream: boolean): string;
  /** Headers that the protocol itself demands, e.g. `anthropic-version`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parameters for which the protocol has no field. The engine removes and reports them (or emulates `stop`). */
  readonly lacks: ReadonlySet<Parameter>;
  /** True: only schemas can be enforced here, not `json_object`, which the engine then emulates. */
  readonly schemasOnly?: boolean;
  /** True: the protocol has no custom tools; they travel as functions, and nobody enforces their grammars. */
  readonly functionsOnly?: boolean;
  /** Roles whose messages hold text alone. Absent: there are none. */
  readonly textOnly?: ReadonlySet<Role>;
  /**
   * False for an http(s) address that servers of this protocol do not fetch: the engine then sends the bytes. Absent:
   * they fetch images and files from anywhere.
   */
  takesUrl?(url: string, type: 'image' | 'file'): boolean;
  /**
   * Writes the upstream body. Whatever has no place in it goes to the report; nothing throws but a request
   * that cannot be expressed at all (GatewayError `unsupported`).
   */
  encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject;
  /** Pushes a whole answer. Throws GatewayError when the body is not an answer of this protocol. */
  decodeResponse(body: unknown, sink: EventSink, context: CodecContext): void;
  decodeStream(sink: EventSink, context: CodecContext): StreamDecoder;
  /**
   * Classifies an error answer into one closed kind.
   * @param header reads a response header by lower-case name
   */
  decodeError(status: number, header: (name: string) => string | null, body: string): GatewayError;
  /**
   * Reads the upstream's own limits from the head of any answer; null when it names none.
   * @param nowMs Unix milliseconds: some name a point in time
   */
  decodeLimits?(header: (name: string) => string | null, nowMs: number): LimitNotice | null;
}

/** Items in the protocol's own raw form, where the gateway keeps conversations in it. */
export interface StoredItems {
  /**
   * The items of `input` as they are kept: a text becomes a message, and each has an id.
   * @param newId makes an id with a prefix
   */
  identify(input: JsonValue | undefined, newId: (prefix: string) => string): readonly JsonObject[];
  /** Reads kept items. Throws GatewayError naming `path[index]` for what is none. */
  decode(items: readonly JsonObject[], path: string): readonly Item[];
  /** A kept item as the API gives it back, without the members that `include` does not ask for. */
  show(item: JsonObject, include: ReadonlySet<string>): JsonObject;
  /** A kept answer as the API gives it back. */
  showResponse(response: JsonObject, include: ReadonlySet<string>): JsonObject;
  /** The frames of a kept answer's stream, in order: the place of each is its number. */
  replay(response: JsonObject, include: ReadonlySet<string>, context: CodecContext): readonly string[];
}

/** What the address of a request says, in protocols that put it there. */
export interface RequestRoute {
  readonly model?: string | undefined;
  readonly stream?: boolean | undefined;
  /** True: a stream is to be one JSON array. */
  readonly streamAsArray?: boolean | undefined;
  /** True: the body holds several requests that are answered together. */
  readonly batch?: boolean | undefined;
}

/** The protocol as spoken to a client. */
export interface ServerCodec {
  /**
   * The one form of opaque reasoning that a client of this protocol can carry. That of other families travels inside
   * it, sealed. Absent: the protocol names the family of each.
   */
  readonly nativeReasoning?: Pick<OpaqueReasoning, 'format' | 'kind'>;
  /**
   * Rewrites a request in terms that every upstream knows, for an upstream that does not know all of this protocol's.
   * Absent: there is nothing that others lack. Throws GatewayError `unsupported` for what cannot be said otherwise.
   */
  portable?(
    request: CanonicalRequest,
    upstream: { readonly protocol: ProtocolName; readonly faithful: boolean },
    report: Report,
  ): Ported;
  /**
   * Throws GatewayError `invalid_request` for an output whose call is nowhere in the conversation. Not asked where the
   * client's own bytes go on: who reads those judges them. Absent: the upstream judges in any case.
   */
  readonly requireCalls?: (items: readonly Item[]) => void;
  /** True: its clients may give calls back without their ids. */
  readonly omitsCallIds?: true;
  /** Absent: answers of this protocol are not kept. */
  readonly items?: StoredItems;
  /** Names of the members of a request body that the protocol or the gateway gives a meaning. Absent: nobody asks. */
  readonly members?: ReadonlySet<string>;
  /** What its clients call what reports name. `decodeRequest` gives it to the report. */
  readonly names: ClientNames;
  /** Throws GatewayError naming every offending field. */
  decodeRequest(body: unknown, route?: RequestRoute): CanonicalRequest;
  /** Objects of the vendor's account that a request names, but for those in the place of media. */
  namedObjects(request: CanonicalRequest): readonly NamedObject[];
  /**
   * What its answers have a place for besides what every protocol tells and its own raw forms: pictures that were made,
   * and compacted conversations.
   */
  readonly alsoTells: ReadonlySet<'image' | 'compaction'>;
  /** True: a whole answer can tell that it failed, and still hold what was said before. */
  readonly tellsFailure?: true;
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
   * Names of the client's request headers, in lower case, that go on, as they are, to an upstream that speaks the
   * protocol too. No other header of a client ever does. Absent: there are none.
   */
  readonly passedHeaders?: ReadonlySet<string>;
  /** Absent: clients have no operation that counts tokens. */
  readonly counting?: CountServer;
  /** Absent: clients have no operation that makes embeddings. */
  readonly embeddings?: EmbeddingsServer;
  /** Body of an error answer; `requestId` where the protocol has a place for it. */
  encodeError(error: GatewayError, requestId: string): { readonly status: number; readonly body: JsonObject };
}

/** What the client sees of the envelope in the relay lane. */
export interface RelayFacts {
  readonly id: string;
  /** The gateway's id of the model. */
  readonly model: string;
  /** False: token counts were asked of the upstream by the gateway alone and are withheld from the client. */
  readonly showUsage: boolean;
  /** `store` as the client asked, for protocols whose answers repeat it; undefined: as the upstream has it. */
  readonly store?: boolean | undefined;
  /** Masks keys in an upstream's words about a failure: JSON in, JSON out. */
  readonly redact: (json: string) => string;
}

/** What the tap learns from an answer that passes. */
export interface RelayTap {
  readonly upstreamId: string | undefined;
  readonly usage: Usage | undefined;
  readonly finish: FinishEvent | undefined;
  /** Characters of visible output that passed: the basis of an estimate when no usage came. */
  readonly outputChars: number;
  /** True: it ended, and nothing of it is an answer. Known once it is complete. */
  readonly isEmpty: boolean;
  /**
   * The whole answer as its client gets it, once it is complete: JSON in a byte string. For protocols whose answers
   * are kept (`ServerCodec.items`).
   */
  answer?(): string | undefined;
}

/** A relayed stream. All text is byte strings (one character, one byte). */
export interface RelayStream extends RelayTap {
  /** Takes the bytes of one read; returns those for the client. Before the first content nothing is returned. */
  push(bytes: string): string;
  /** True once content was seen: the answer is committed to this upstream. */
  readonly committed: boolean;
  /** Set when the upstream reported a failure, before or after content. */
  readonly error: GatewayError | undefined;
  /** True when the upstream's own words about the failure went to the client. */
  readonly errorShown: boolean;
  /** True once the terminal marker was seen. Frames from there on are held back for `finish`. */
  readonly done: boolean;
  /** The upstream closed: what is still to be sent, or the error if the answer was cut. */
  end(): string;
  /**
   * What tells the client of a failure that the upstream did not report itself, for protocols whose events are
   * numbered: only who passed them on knows how to go on. Absent where an error frame stands for itself.
   */
  fail?(error: GatewayError): string;
}

/** The relay lane of a protocol: envelopes are patched, every other byte passes. */
export interface RelayCodec {
  /** Edits the client's own body: model name, gateway keys out, asked-for additions in. Byte strings. */
  editRequest(body: string, request: CanonicalRequest, model: string): string;
  /** True when the request, as the client wrote it, may go to a faithful upstream of this protocol. */
  accepts(request: CanonicalRequest): boolean;
  /**
   * True when the client's own words already tell the endpoint to reason as was decided. Absent: they do where the
   * effort is the decided one.
   */
  saysReasoning?(request: CanonicalRequest, target: Pick<Target, 'reasoning' | 'reasoningStyle'>): boolean;
  /** Patches a whole answer. Throws GatewayError when the body is no answer of this protocol. */
  patchResponse(body: string, facts: RelayFacts): { readonly body: string; readonly tap: RelayTap };
  openStream(facts: RelayFacts): RelayStream;
}

/** What a host that serves a protocol for its owner wants in another form than the owner does. */
export interface HostedForms {
  /** Absent: the owner's own form. */
  readonly counting?: Pick<CountCodec, 'encodeRequest'>;
  /** Absent: the owner's own form. Its path takes the place of `{operation}` in the host's. */
  readonly embeddings?: EmbeddingsCodec;
}

/** Embeddings as servers of a protocol make them. */
export interface EmbeddingsCodec {
  /** Path below the provider's base URL. @param model the upstream's own name */
  pathFor(model: string): string;
  /** How many inputs one request may hold: more are sent as several. Absent: as many as clients may send. */
  mostInputs?(model: string): number;
  /**
   * Writes the upstream body. What has no place in it goes to the report; throws GatewayError `unsupported` for inputs
   * that cannot be expressed.
   */
  encodeRequest(
    request: EmbeddingsRequest,
    target: Pick<Target, 'model' | 'quirks'>,
    report: Report,
  ): JsonObject;
  /**
   * Reads a whole answer.
   * @param count how many inputs were sent
   * @throws GatewayError `upstream_unavailable` for a body that does not hold as many vectors
   */
  decodeResponse(body: unknown, count: number): Embeddings;
}

/** The vectors of a request, as a client is to get them. */
export interface AnsweredEmbeddings {
  /** One for each input, in the form that was asked for. */
  readonly vectors: readonly Vector[];
  readonly usage: Usage;
  /** The gateway's id of the model that ran. */
  readonly model: string;
  /** Cost in USD; undefined where it was not asked for, or is not known. */
  readonly costUsd: number | undefined;
}

/** A client's request for embeddings. */
export interface DecodedEmbeddings {
  /** What routing needs to know: a request without items. */
  readonly request: CanonicalRequest;
  /** Never empty. Several where settings differ from one input to another; their vectors are one answer, in order. */
  readonly asked: readonly EmbeddingsRequest[];
  /** Writes the body of the answer. */
  encode(answer: AnsweredEmbeddings): JsonObject;
}

/** Embeddings as clients of a protocol ask for them. */
export interface EmbeddingsServer {
  /** Decodes a client's body. Throws GatewayError naming every offending field. */
  decodeRequest(body: unknown, route?: RequestRoute): DecodedEmbeddings;
}

/** The operation that counts the input tokens of a request, as clients ask for it. */
export interface CountServer {
  /** Decodes a client's body. Throws GatewayError naming every offending field. */
  decodeRequest(body: unknown, route?: RequestRoute): CanonicalRequest;
  /** The answer. @param inputTokens counted by an upstream, or estimated */
  encodeCount(inputTokens: number): JsonObject;
}

/** The same operation, as upstreams are asked for it. */
export interface CountCodec {
  /** Path below the provider's base URL. @param model the upstream's own name */
  pathFor(model: string): string;
  /** Writes the upstream body. */
  encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject;
  /** Tokens from an upstream's answer; undefined when it holds none. */
  decodeCount(body: unknown): number | undefined;
}

export interface Protocol {
  readonly name: ProtocolName;
  readonly upstream: UpstreamCodec;
  /** Absent: servers of the protocol have no operation that counts tokens. */
  readonly counting?: CountCodec;
  /** Absent: no server of this protocol makes embeddings. */
  readonly embeddings?: EmbeddingsCodec;
  /** Absent: hosts want everything in the owner's form. */
  readonly hosted?: HostedForms;
  /** Absent: requests of this protocol always take the translate lane. */
  readonly relay?: RelayCodec;
  /** Absent while clients cannot speak this protocol to the gateway. */
  readonly server?: ServerCodec;
}
