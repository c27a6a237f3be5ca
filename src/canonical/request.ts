// The canonical request: what a client asked for, in no protocol's words.
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
  /** As sent; undefined when the client said nothing (defaults differ between protocols). */
  readonly strict?: boolean | undefined;
}
export interface CustomTool extends NodeBase {
  readonly type: 'custom';
  readonly name: string;
  readonly description?: string | undefined;
  /** `{type:"text"}` or `{type:"grammar", syntax, definition}` (flat, as in the Responses API). */
  readonly format?: JsonObject | undefined;
}
/** A tool that somebody else runs: the upstream, or the gateway. Known by its raw form. */
export interface HostedTool extends NodeBase {
  readonly type: 'hosted';
  /** The raw type, e.g. `web_search_preview`. */
  readonly kind: string;
  /** Its meaning, where the gateway can run it. */
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
      /** Absent where it names nothing that the gateway knows how to run. */
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
      /** The member, a string, that alone is the answer: the client wants its bare text. */
      readonly unwrap?: string | undefined;
    };

/** From least to most. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

/** Reasoning settings of the client, unresolved. `engine/adapt/reasoning-policy.ts` alone decides what they mean. */
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
   * True: how much is the model's own decision, not the gateway's default. So a protocol may mean it that nothing was
   * said; with `enabled` the model is to reason in any case.
   */
  readonly leaveToModel?: true | undefined;
}

/** True when the model is told not to reason. */
export function asksForNone({ enabled, effort }: ReasoningRequest): boolean {
  return enabled === false || effort === 'none';
}

/** Keys that steer the gateway and never reach an upstream. */
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

/** A member that only one protocol can say, or say exactly. */
export interface TranslationLoss extends ReportEntry {
  readonly keptBy: ProtocolName;
  /** Another protocol that can say it. */
  readonly alsoKeptBy?: ProtocolName | undefined;
  /** The encoder of that protocol loses it as well: it goes on only in the client's own bytes. */
  readonly keptIn?: 'relay' | undefined;
}

/** An answer that stays at the upstream which gave it, and that a request goes on from. */
export interface FollowedAnswer {
  /** The gateway's id of it, as the client wrote it. */
  readonly id: string;
  /** JSON path in the client's body. */
  readonly path: string;
  /** Place of the answer. Undefined: not looked up yet. */
  readonly answer?: { readonly provider: string; readonly upstreamId: string } | undefined;
}

/** Facts of a request without its content. */
export type RequestOutline = Pick<CanonicalRequest, 'model' | 'stream' | 'metadata' | 'endUser'>;

export interface CanonicalRequest extends Parameters {
  /** The protocol the client speaks. */
  readonly protocol: ProtocolName;
  /** Facts of the task. Absent: text. Present: there are neither items nor tools. */
  readonly task?: TaskFacts | undefined;
  /** True: the body mixes forms of several protocols, or is answered in another than it has. It can only be translated. */
  readonly hybrid?: true | undefined;
  /** The body as parsed: the same-protocol encoder takes unknown members from it. */
  readonly raw: JsonObject;
  readonly model: string;
  readonly items: readonly Item[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
  /** Visible plus reasoning tokens. */
  readonly maxOutputTokens?: number | undefined;
  readonly responseFormat?: ResponseFormat | undefined;
  readonly reasoning: ReasoningRequest;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Opaque id of whom the client answers for. */
  readonly endUser?: string | undefined;
  /** How soon the vendor shall answer, in its own words: some of them cost more, or less. */
  readonly serviceTier?: string | undefined;
  /** True: the last item is the beginning of the answer, a message of the assistant that the model must continue. */
  readonly prefill?: true | undefined;
  readonly stream: boolean;
  /** `stream_options.include_usage`. */
  readonly streamUsage?: boolean | undefined;
  /** True: the upstream goes on without a listener, and keeps the answer. */
  readonly background?: true | undefined;
  /** Absent where the request itself holds what was said. */
  readonly follows?: FollowedAnswer | undefined;
  readonly gateway: GatewayOptions;
  /** Wishes about the gateway's own storage. Absent in protocols that store nothing. */
  readonly state?: StateRequest | undefined;
  /** The turn of a thread that it is. `items` and `raw` hold the whole conversation. Absent: it belongs to none. */
  readonly thread?: ThreadTurn | undefined;
  /** Members that the protocol's documentation does not know: passed on to an upstream of the same protocol, else reported. */
  readonly extra: Readonly<Record<string, JsonValue | undefined>>;
  /** Losses at every endpoint that does not speak the protocol of the form that holds them. */
  readonly translationLosses?: readonly TranslationLoss[] | undefined;
  /** Losses that are already certain before an endpoint is chosen. */
  readonly report: Report;
}

// A kind of request, as far as those must know it who do not decode it: plain facts, in no protocol's words.

/** Facts of a task besides text. */
export interface TaskFacts {
  /** Name in data of providers, in records and in metrics. */
  readonly name: string;
  /** Output that a model must make: one of its `outputModalities`. */
  readonly makes: string;
  /** Words for a model that does not make it. */
  readonly misfit: string;
  /** Most tokens that an answer costs. Absent: nobody knows. */
  readonly mostOutputTokens?: number;
  /** Word for it among the types of tasks by which models are chosen. Absent: there is none. */
  readonly type?: {
    readonly name: string;
    /** Sentence for a request of another task that names it. */
    readonly servedBy: string;
  };
  /**
   * Sentence for a request that leaves the choice among all models to the gateway, where answers of two models cannot be
   * compared. Absent: it may.
   */
  readonly mustBeNamed?: string;
}

// One turn of a thread: a conversation that the gateway holds, so that its client sends only what is new. Knows no
// protocol's words for it.

export interface ThreadTurn {
  /** Id of the answer that the turn continues, as the client wrote it. Undefined: the thread begins here. */
  readonly previousId: string | undefined;
  /** Messages of this turn alone, raw. */
  readonly messages: readonly JsonObject[];
  /** Members that hold for the whole thread, raw. Empty behind its first turn. */
  readonly fixed: JsonObject;
}

// Wishes of a request about the gateway's own storage and the shape of its answer (Responses API). Only typed wishes:
// `engine/state` decides what is stored, and what an unknown id means.

/** Members of an answer that appear only when `include` asks for them: those of the implemented API, and OpenAI's own beside them. */
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

/** A stored template and what to put into it. */
export interface PromptRequest {
  readonly id: string;
  readonly version?: string | undefined;
  /** By name: a text, or one part (text, image, file). */
  readonly variables: Readonly<Record<string, string | Part>>;
}

/** Every member is as the client sent it; undefined where it said nothing. */
export interface StateRequest {
  /** Never together with `conversationId`. */
  readonly previousResponseId?: string | undefined;
  readonly conversationId?: string | undefined;
  /** The protocol's default: true. */
  readonly store: boolean;
  readonly prompt?: PromptRequest | undefined;
  /** The protocol's default: `disabled`. */
  readonly truncation: 'auto' | 'disabled';
  /** Members of the answer that appear only when they are asked for, e.g. `reasoning.encrypted_content`. */
  readonly include: ReadonlySet<string>;
  /** Most calls of hosted tools in one answer, all tools together. */
  readonly maxToolCalls?: number | undefined;
  readonly safetyIdentifier?: string | undefined;
  readonly promptCacheKey?: string | undefined;
  readonly promptCacheRetention?: string | undefined;
  /** True: the answer is made in the background. */
  readonly background: boolean;
  /** `instructions` as sent: the first item of the request repeats it, and no later turn inherits it. */
  readonly instructions?: string | readonly JsonObject[] | undefined;
}
