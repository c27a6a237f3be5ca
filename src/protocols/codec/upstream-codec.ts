// A protocol as spoken to an upstream: what its codec must do, and what is known of every server of it.
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

/** How a key travels. */
export interface AuthScheme {
  readonly header: string;
  /** Put before the key, e.g. `Bearer `. */
  readonly prefix: string;
}

/** Expectations of a server of which nobody says anything else. */
export interface ServerFacts {
  /** How a key travels in the owner's API. */
  readonly auth: AuthScheme;
  /**
   * The format of opaque reasoning that it is taken to write and read: the protocol's own, under which the decoders
   * file what it says. Without one, it would never get its own signed reasoning back. Null: there is none.
   */
  readonly reasoningFormat: string | null;
  /** In how many ways a request can say how much to reason. */
  readonly reasoningStyles: readonly Exclude<ReasoningStyle, 'none' | 'both'>[];
  /** The smallest budget for reasoning that is taken, in tokens. */
  readonly smallestBudget: number;
  /** Path of the list of models below the base URL; null: its servers have it elsewhere. */
  readonly modelList: string | null;
  /**
   * True: only requests of its own clients can be said in it, as they are. No model is spoken to in it for others, and its
   * clients are served in it alone.
   */
  readonly forOwnClients?: true;
  /** Parameters outside the protocol that are written for servers that no vendor runs. Absent: none. */
  readonly extraParameters?: readonly Parameter[];
  /** True: programs serve it at one address beside other protocols. */
  readonly hasSiblings?: true;
  /** True: it has a word of its own for an end with calls, and one for every end. */
  readonly namesEnds?: true;
  /** The quirks in which servers of it are known to differ, each with the values that were met. */
  readonly varies: { readonly [Name in keyof Quirks]?: readonly Quirks[Name][] };
}

/** The protocol as spoken to an upstream. */
export interface UpstreamCodec {
  /** Facts that hold for all its servers. */
  readonly facts: ServerFacts;
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
  /** True: its models may sign an answer behind the last word. */
  readonly signsLast?: true;
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
  /** Pushes a whole answer of one of these media types, which is no JSON. Absent: every answer is JSON. */
  readonly text?: {
    readonly types: readonly string[];
    decode(text: string, sink: EventSink): void;
  };
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
  decodeLimits?(header: (name: string) => string | null, nowMs: UnixMs): LimitNotice | null;
  /** Absent: its vendor has no batch API that the gateway knows. */
  readonly batches?: UpstreamBatches;
  /** Reads those of them that name their size. */
  announcedLimits?(header: (name: string) => string | null): readonly AnnouncedLimit[];
}
