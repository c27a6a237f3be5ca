// The canonical request: a client's request independent of its protocol.
import type { ChosenTools, HostedMeaning } from './hosted-tool.ts';
import type { Item } from './item.ts';
import type { JsonObject, JsonValue } from '../base/json/index.ts';
import type { NodeBase, Part, Source } from './part.ts';
import type { Parameters } from './parameters.ts';
import type { ProtocolName } from './protocol-name.ts';
import type { Report, ReportEntry } from './report.ts';
import type { ModelRouting, RoutingWishes } from './routing-wishes.ts';

export interface FunctionTool extends NodeBase {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments; absent means no arguments. */
  readonly parameters?: JsonObject | undefined;
  /** Undefined if the client did not set it, because defaults differ between protocols. */
  readonly strict?: boolean | undefined;
}
export interface CustomTool extends NodeBase {
  readonly type: 'custom';
  readonly name: string;
  readonly description?: string | undefined;
  /** `{type:"text"}` or `{type:"grammar", syntax, definition}` (flat, as in the Responses API). */
  readonly format?: JsonObject | undefined;
}
/** A tool that the upstream or the gateway runs, in its raw form. */
export interface HostedTool extends NodeBase {
  readonly type: 'hosted';
  /** The raw type, e.g. `web_search_preview`. */
  readonly kind: string;
  /** The tool in canonical form, if the gateway can run it. */
  readonly meaning?: HostedMeaning | undefined;
  readonly source: Source;
}
export type Tool = FunctionTool | CustomTool | HostedTool;

export type ToolChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'tool'; readonly kind: 'function' | 'custom'; readonly name: string }
  | { readonly type: 'allowed'; readonly mode: 'auto' | 'required'; readonly names: readonly string[] }
  | {
      readonly type: 'hosted';
      readonly source: Source;
      /** Absent if it names no tool that the gateway can run. */
      readonly chosen?: ChosenTools | undefined;
    };

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema?: JsonObject | undefined;
      readonly strict?: boolean | undefined;
      readonly description?: string | undefined;
      /** Name of the string member that the client wants as bare text. */
      readonly unwrap?: string | undefined;
    };

/** From least to most. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** Reasoning settings of the client. `engine/adapt/reasoning-policy.ts` resolves them for an endpoint. */
export interface ReasoningRequest {
  readonly enabled?: boolean | undefined;
  readonly effort?: Effort | undefined;
  /** Budget in tokens. */
  readonly maxTokens?: number | undefined;
  /** True: reason, but do not show it. */
  readonly exclude?: boolean | undefined;
  /** `auto`, `concise`, `detailed`. */
  readonly summary?: string | undefined;
  /**
   * True: the model decides how much to reason, instead of the gateway's default. With `enabled`, it must reason in any
   * case.
   */
  readonly leaveToModel?: true | undefined;
}

/** True if the client disables reasoning. */
export function asksForNone({ enabled, effort }: ReasoningRequest): boolean {
  return enabled === false || effort === 'none';
}

/** Options for the gateway, which are never sent to an upstream. */
export interface GatewayOptions {
  /** `provider`: provider routing and fallback. */
  readonly routing?: RoutingWishes | undefined;
  /** `model_routing_config`. */
  readonly modelRouting?: ModelRouting | undefined;
  /** `models`: ordered fallback list. */
  readonly models?: readonly string[] | undefined;
  /** `usage.include` (top level or below `reasoning`). */
  readonly includeUsage?: boolean | undefined;
  readonly strict?: boolean | undefined;
}

/** A member that only one protocol can express exactly. */
export interface TranslationLoss extends ReportEntry {
  readonly keptBy: ProtocolName;
  /** Another protocol that can express it. */
  readonly alsoKeptBy?: ProtocolName | undefined;
  /** `relay`: the protocol's own encoder loses it as well, so that it survives only in the relay lane. */
  readonly keptIn?: 'relay' | undefined;
}

/** An earlier answer, stored at its upstream, that a request continues. */
export interface FollowedAnswer {
  /** The gateway's id of the answer, as sent by the client. */
  readonly id: string;
  /** JSON path in the client's body. */
  readonly path: string;
  /** Location of the answer. Undefined: not looked up yet. */
  readonly answer?: { readonly provider: string; readonly upstreamId: string } | undefined;
}

/** A request without its content. */
export type RequestOutline = Pick<CanonicalRequest, 'model' | 'stream' | 'metadata' | 'endUser'>;

export interface CanonicalRequest extends Parameters {
  /** The protocol the client speaks. */
  readonly protocol: ProtocolName;
  /** The task. Absent: text. Other tasks have neither items nor tools. */
  readonly task?: TaskFacts | undefined;
  /** True: the body mixes several protocols, or its response has another one. Such a request is always translated. */
  readonly hybrid?: true | undefined;
  /** The parsed body. The encoder of the same protocol takes unknown members from it. */
  readonly raw: JsonObject;
  readonly model: string;
  readonly items: readonly Item[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
  /** Visible and reasoning tokens together. */
  readonly maxOutputTokens?: number | undefined;
  readonly responseFormat?: ResponseFormat | undefined;
  readonly reasoning: ReasoningRequest;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Opaque id of the client's end user. */
  readonly endUser?: string | undefined;
  /** Service tier in the vendor's words. Tiers differ in speed and price. */
  readonly serviceTier?: string | undefined;
  /** True: the last item is an assistant message that the model must continue. */
  readonly prefill?: true | undefined;
  readonly stream: boolean;
  /** `stream_options.include_usage`. */
  readonly streamUsage?: boolean | undefined;
  /** True: the upstream continues without a connection, and stores the answer. */
  readonly background?: true | undefined;
  /** Absent: the request contains the whole conversation. */
  readonly follows?: FollowedAnswer | undefined;
  readonly gateway: GatewayOptions;
  /** Options for stored responses. Absent in protocols without storage. */
  readonly state?: StateRequest | undefined;
  /** The turn of a thread. `items` and `raw` contain the whole conversation. Absent: the request belongs to no thread. */
  readonly thread?: ThreadTurn | undefined;
  /** Members that the protocol does not document. Passed on to an upstream of the same protocol, else reported. */
  readonly extra: Readonly<Record<string, JsonValue | undefined>>;
  /** Losses at every endpoint of another protocol. */
  readonly translationLosses?: readonly TranslationLoss[] | undefined;
  /** Losses that do not depend on the endpoint. */
  readonly report: Report;
}

// Tasks: kinds of requests, as far as code outside of their codecs needs to know them.

/** A task other than text. */
export interface TaskFacts {
  /** Name in provider data, records and metrics. */
  readonly name: string;
  /** Output modality that a model must have. */
  readonly makes: string;
  /** Message for a model without this output. */
  readonly misfit: string;
  /** Upper bound of output tokens. Absent: unknown. */
  readonly mostOutputTokens?: number;
  /** Task type for the choice of models. Absent: models cannot be chosen by it. */
  readonly type?: {
    readonly name: string;
    /** Message for a request of another task that names this type. */
    readonly servedBy: string;
  };
  /**
   * Message for a request without a model, if answers of different models are not comparable. Absent: the gateway may
   * choose the model.
   */
  readonly mustBeNamed?: string;
}

// Threads: conversations that the gateway stores, so that clients send only new messages.

export interface ThreadTurn {
  /** Id of the answer that this turn continues, as sent by the client. Undefined: first turn. */
  readonly previousId: string | undefined;
  /** Raw messages of this turn only. */
  readonly messages: readonly JsonObject[];
  /** Raw members that apply to the whole thread. Empty after its first turn. */
  readonly fixed: JsonObject;
}

// Options for stored responses and for the shape of the answer (Responses API). `engine/state` decides what is stored, and
// how unknown ids are handled.

/** Values of `include`: members of an answer that are left out by default. */
export const INCLUDABLE: ReadonlySet<string> = new Set([
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
]);

/** A stored prompt template and its variables. */
export interface PromptRequest {
  readonly id: string;
  readonly version?: string | undefined;
  /** Values by name: a text, or one part (text, image, file). */
  readonly variables: Readonly<Record<string, string | Part>>;
}

/** Members are as sent by the client; undefined if not set. */
export interface StateRequest {
  /** Never together with `conversationId`. */
  readonly previousResponseId?: string | undefined;
  readonly conversationId?: string | undefined;
  /** The protocol's default: true. */
  readonly store: boolean;
  readonly prompt?: PromptRequest | undefined;
  /** The protocol's default: `disabled`. */
  readonly truncation: 'auto' | 'disabled';
  /** Members to include in the answer, e.g. `reasoning.encrypted_content`. */
  readonly include: ReadonlySet<string>;
  /** Maximum number of hosted tool calls in one answer, over all tools. */
  readonly maxToolCalls?: number | undefined;
  readonly safetyIdentifier?: string | undefined;
  readonly promptCacheKey?: string | undefined;
  readonly promptCacheRetention?: string | undefined;
  /** True: the answer is made in the background. */
  readonly background: boolean;
  /** `instructions` as sent. The first item of the request repeats it, and later turns do not inherit it. */
  readonly instructions?: string | readonly JsonObject[] | undefined;
}
