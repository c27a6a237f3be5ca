// The endpoint for which an encoder writes: model name, documented quirks, and resolved reasoning. Pure data, so that no
// code depends on a provider's name.
import type { Parameter } from './parameters.ts';
import type { Effort } from './request.ts';

/** How reasoning is controlled. `effort`: by levels; `budget`: by tokens; `both`: by either. */
export type ReasoningStyle = 'none' | 'effort' | 'budget' | 'both';

/** Reasoning for one endpoint, as resolved by `engine/adapt/reasoning-policy.ts`. */
export type ResolvedReasoning =
  /** Not sent: the model decides, or cannot reason. */
  | { readonly mode: 'unset' }
  /** Switched off explicitly. */
  | { readonly mode: 'off' }
  | {
      readonly mode: 'on';
      readonly effort: Effort | undefined;
      /** Tokens, within the endpoint's allowed range. */
      readonly budgetTokens: number | undefined;
      /** Requested summary. Undefined: the upstream's default. `none`: no summary. */
      readonly summary: string | undefined;
    };

/**
 * Deviations of a server from its protocol's definition. `catalog/providers/provider.ts` documents each flag with its
 * default.
 */
export interface Quirks {
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens' | 'as_written';
  readonly smallLimits: boolean;
  readonly namesCutAnswers: boolean;
  readonly systemRole: 'system' | 'developer' | 'keep';
  readonly mergeSystem: boolean;
  readonly laterInstructions: boolean;
  readonly reasoningField:
    | 'reasoning_effort'
    | 'reasoning'
    | 'thinking'
    | 'enable_thinking'
    | 'chat_template_kwargs'
    | 'none';
  readonly reasoningReplay:
    | 'reasoning_content'
    | 'reasoning'
    | 'reasoning_details'
    | 'thinking_parts'
    | 'none';
  readonly streamUsage: 'include_usage' | 'always';
  readonly structuredOutput: 'json_schema' | 'json_object' | 'none';
  readonly strictTools: boolean;
  readonly customTools: boolean;
  readonly messageName: boolean;
  readonly textContent: 'parts' | 'string';
  readonly requiredToolChoice: 'required' | 'any';
  readonly namedToolChoice: boolean;
  readonly toolCallId: 'any' | 'alphanumeric-9';
  readonly cacheControl: boolean;
  readonly vectors: 'float' | 'base64_int8' | 'output_dtype';
  readonly unknownFields: 'pass' | 'drop';
  readonly adjacentRoles: 'keep' | 'merge';
  readonly exclusiveReasoning: boolean;
  readonly forcedThinking: boolean;
  readonly pairedSampling: boolean;
  readonly assistantFirst: boolean;
  readonly fetchesUrls: boolean;
  readonly readsFiles: boolean;
  readonly prefill: 'none' | 'plain' | 'prefix' | 'partial' | 'continue_final_message';
  readonly searchesWeb: boolean;
  readonly runsMcp: boolean;
}

/** Support by member name. Absent: `quirks.unknownFields` decides. */
export type KnownMembers = Readonly<Record<string, boolean | readonly string[]>>;

export interface Target {
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly quirks: Quirks;
  /** Body members that the server is known to accept or refuse; a list contains the accepted values. */
  readonly members?: KnownMembers | undefined;
  /** True: a server run by the operator, or of unknown origin. */
  readonly isPrivate?: boolean | undefined;
  readonly reasoningStyle: ReasoningStyle;
  /** True: the vendor that defines the protocol, or an exact implementation. The client's bytes may be relayed to it. */
  readonly isFaithful?: boolean;
  /** False: it is unknown whether the model continues a prefill. */
  readonly isPrefillKnown?: boolean;
  /** False: it is unknown whether the model reasons. */
  readonly isReasoningKnown?: boolean;
  readonly reasoning: ResolvedReasoning;
  /** Format of opaque reasoning that this endpoint can read, e.g. `anthropic-claude-v1`; null if none. */
  readonly reasoningFormat: string | null;
  /** Parameters that this endpoint does not support. */
  readonly unsupported: ReadonlySet<Parameter>;
  /** Tokens; null: unknown. */
  readonly maxOutputTokens: number | null;
  readonly contextLength: number | null;
}
