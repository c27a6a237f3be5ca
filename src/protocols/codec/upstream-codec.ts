// Codec of a protocol for upstreams, and the facts that hold for every server of it.
import type { JsonObject } from '../../base/json/index.ts';
import type {
  AnnouncedLimit,
  CanonicalRequest,
  EventSink,
  GatewayError,
  LimitNotice,
  Parameter,
  Quirks,
  ReasoningStyle,
  Report,
  Role,
  Target,
} from '../../canonical/index.ts';
import type { CodecContext } from '../protocol.ts';
import type { UpstreamBatches } from './upstream-batches.ts';
import type { UnixMs } from '../../base/units.ts';

/** Decodes the frames of one upstream stream. */
export interface StreamDecoder {
  /** Takes one server-sent event. @param event the `event:` field, '' if absent @param data the joined `data:` lines */
  frame(event: string, data: string): void;
  /** Called when the upstream closes. Emits `finish` for a complete answer, `error` for a cut one. */
  end(): void;
  /** Called instead of `end` if the answer is interrupted. Emits counts that wait for the end. Absent: none wait. */
  interrupt?(): void;
}

/** How a key is sent. */
export interface AuthScheme {
  readonly header: string;
  /** Prefix of the key, e.g. `Bearer `. */
  readonly prefix: string;
}

/** Default facts of a server. */
export interface ServerFacts {
  /** How a key is sent in the owner's API. */
  readonly auth: AuthScheme;
  /**
   * Default format of opaque reasoning, which the decoders assign to what the server sends. It is required so that a
   * server gets its own signed reasoning back. Null: none.
   */
  readonly reasoningFormat: string | null;
  /** Ways in which a request can specify the amount of reasoning. */
  readonly reasoningStyles: readonly Exclude<ReasoningStyle, 'none' | 'both'>[];
  /** Minimum reasoning budget that is accepted, in tokens. */
  readonly smallestBudget: number;
  /** Path of the model list below the base URL; null: its servers have it elsewhere. */
  readonly modelList: string | null;
  /**
   * True: only requests of its own clients can be expressed, unchanged. Requests of other clients are never translated
   * to it, and its clients are served by no other protocol.
   */
  readonly forOwnClients?: true;
  /** Parameters outside the protocol that are sent to self-hosted servers. Absent: none. */
  readonly extraParameters?: readonly Parameter[];
  /** True: servers offer it at the same address as other protocols. */
  readonly hasSiblings?: true;
  /** True: every answer has a finish reason, and answers with calls have one of their own. */
  readonly namesEnds?: true;
  /** Quirks in which its servers differ, each with the observed values. */
  readonly varies: { readonly [Name in keyof Quirks]?: readonly Quirks[Name][] };
}

/** Codec of a protocol for upstreams. */
export interface UpstreamCodec {
  /** Facts that hold for all its servers. */
  readonly facts: ServerFacts;
  /** Path below the provider's base URL, e.g. `/chat/completions`. */
  readonly path: string;
  /**
   * Returns the path if it depends on the request. It replaces `path`.
   * @param model the upstream's own name
   * @param stream true if a stream is requested
   */
  pathFor?(model: string, stream: boolean): string;
  /** Headers that the protocol requires, e.g. `anthropic-version`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parameters without a member in the protocol. The engine removes and reports them (or emulates `stop`). */
  readonly lacks: ReadonlySet<Parameter>;
  /** True: only schemas can be enforced. The engine emulates `json_object`. */
  readonly schemasOnly?: boolean;
  /** True: there are no custom tools. They are sent as functions, and their grammars are not enforced. */
  readonly functionsOnly?: boolean;
  /** True: its models can sign an answer after its last text. */
  readonly signsLast?: true;
  /** Roles whose messages can only hold text. Absent: none. */
  readonly textOnly?: ReadonlySet<Role>;
  /**
   * False for an http(s) URL that its servers do not fetch: the engine then sends the bytes. Absent: they fetch images
   * and files from any URL.
   */
  takesUrl?(url: string, type: 'image' | 'file'): boolean;
  /**
   * Encodes the upstream body. What it cannot express goes to the report.
   * @throws GatewayError `unsupported` for a request that cannot be expressed at all
   */
  encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject;
  /** Decodes a whole answer into events. @throws GatewayError if the body is not an answer of this protocol */
  decodeResponse(body: unknown, sink: EventSink, context: CodecContext): void;
  /** Decodes a whole answer of one of these media types, which is not JSON. Absent: every answer is JSON. */
  readonly text?: {
    readonly types: readonly string[];
    decode(text: string, sink: EventSink): void;
  };
  decodeStream(sink: EventSink, context: CodecContext): StreamDecoder;
  /** Classifies an error answer. @param header reads a response header by lower-case name */
  decodeError(status: number, header: (name: string) => string | null, body: string): GatewayError;
  /**
   * Reads the upstream's rate limits from the headers of any answer; null: none.
   * @param nowMs Unix milliseconds, because some headers hold a point in time
   */
  decodeLimits?(header: (name: string) => string | null, nowMs: UnixMs): LimitNotice | null;
  /** Absent: the vendor has no batch API that the gateway supports. */
  readonly batches?: UpstreamBatches;
  /** Reads the limits that announce their size. */
  announcedLimits?(header: (name: string) => string | null): readonly AnnouncedLimit[];
}
