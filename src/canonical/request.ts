// The canonical request: what a client asked for, in no protocol's words.
import type { ChosenTools, HostedMeaning } from './hosted-tool.ts';
import type { Item } from './item.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { NodeBase, Source } from './part.ts';
import type { ProtocolName } from './protocol-name.ts';
import type { Report, ReportEntry } from './report.ts';
import type { ModelRouting, RoutingWishes } from './routing-wishes.ts';
import type { StateRequest } from './state-request.ts';

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
  /** What it does, where the gateway knows how to do it. */
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

/** What the client said about reasoning, unresolved. `engine/adapt/reasoning-policy.ts` alone decides what it means. */
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

export interface WebSearchOptions {
  readonly contextSize?: string | undefined;
  /** `{type:"approximate", city, country, region, timezone}`, flat. */
  readonly userLocation?: JsonObject | undefined;
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

/** What only one protocol can say, or say exactly. */
export interface LossElsewhere extends ReportEntry {
  readonly keptBy: ProtocolName;
  /** Another protocol that can say it. */
  readonly alsoKeptBy?: ProtocolName | undefined;
  /** That protocol's encoder loses it as well: it goes on only in the client's own bytes. */
  readonly keptIn?: 'relay' | undefined;
}

/** An answer that stays at the upstream which gave it, and that a request goes on from. */
export interface FollowedAnswer {
  /** The gateway's id of it, as the client wrote it. */
  readonly id: string;
  /** JSON path in the client's body. */
  readonly path: string;
  /** Where it is; undefined as long as nobody has looked. */
  readonly answer?: { readonly provider: string; readonly upstreamId: string } | undefined;
}

/** What is told of a request without anything that was said in it. */
export type RequestOutline = Pick<CanonicalRequest, 'model' | 'stream' | 'metadata' | 'endUser'>;

export interface CanonicalRequest {
  /** The protocol the client speaks. */
  readonly protocol: ProtocolName;
  /** What is to be made, where that is no text: vectors. Then there are neither items nor tools. */
  readonly task?: 'embedding' | undefined;
  /** True: the body mixes forms of several protocols, or is answered in another than it has. It can only be translated. */
  readonly hybrid?: true | undefined;
  /** The body as parsed: the same-protocol encoder takes unknown members from it. */
  readonly raw: JsonObject;
  readonly model: string;
  readonly items: readonly Item[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  /** Visible plus reasoning tokens. */
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly logitBias?: JsonObject | undefined;
  readonly logprobs?: boolean | undefined;
  readonly topLogprobs?: number | undefined;
  readonly seed?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly responseFormat?: ResponseFormat | undefined;
  readonly reasoning: ReasoningRequest;
  readonly verbosity?: string | undefined;
  readonly webSearch?: WebSearchOptions | undefined;
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
  /** What the request asks of the gateway's own storage. Absent in protocols that keep nothing. */
  readonly state?: StateRequest | undefined;
  /** Members that the protocol's documentation does not know: passed on to an upstream of the same protocol, else reported. */
  readonly extra: Readonly<Record<string, JsonValue | undefined>>;
  /** Losses at every endpoint that does not speak the protocol of the form that holds them. */
  readonly lossesElsewhere?: readonly LossElsewhere[] | undefined;
  /** Losses that are already certain before an endpoint is chosen. */
  readonly report: Report;
}

/**
 * Parameters that some protocol, provider or model lacks. The engine removes what a target lacks in one place
 * (`engine/adapt/adapt.ts`) and reports it, so that codecs need not ask. The value is the name used in reports.
 */
export const PARAMETERS = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  logitBias: 'logit_bias',
  logprobs: 'logprobs',
  topLogprobs: 'top_logprobs',
  seed: 'seed',
  stop: 'stop',
  parallelToolCalls: 'parallel_tool_calls',
  verbosity: 'verbosity',
  webSearch: 'web_search_options',
} as const;
export type Parameter = keyof typeof PARAMETERS;
