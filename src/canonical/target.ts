// Facts of the endpoint that an encoder writes for: its model's name, its documented quirks, and how the engine
// resolved reasoning for it. Data only; no code asks for a provider's name.
import type { Parameter } from './parameters.ts';
import type { Effort } from './request.ts';

/** How a model can be told to think. `effort`: levels; `budget`: tokens; `both`: either. */
export type ReasoningStyle = 'none' | 'effort' | 'budget' | 'both';

/** The outcome of `engine/adapt/reasoning-policy.ts` for one endpoint. */
export type ResolvedReasoning =
  /** Say nothing: the model decides, or cannot reason. */
  | { readonly mode: 'unset' }
  /** Switch it off explicitly. */
  | { readonly mode: 'off' }
  | {
      readonly mode: 'on';
      readonly effort: Effort | undefined;
      /** Tokens; always inside the endpoint's legal interval. */
      readonly budgetTokens: number | undefined;
      /** Summary that the client asked for. Undefined: the upstream's own where it has one. `none`: no summary. */
      readonly summary: string | undefined;
    };

/**
 * Facts about how a server departs from its protocol's own definition. Every flag is documented where its
 * default stands, in `catalog/providers/provider.ts`.
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

/** By the member's name. Absent: `quirks.unknownFields` decides. */
export type KnownMembers = Readonly<Record<string, boolean | readonly string[]>>;

export interface Target {
  /** The upstream's own name of the model. */
  readonly model: string;
  readonly quirks: Quirks;
  /** Members of the body that the server is known to take or to refuse; a list holds the values that it takes. */
  readonly members?: KnownMembers | undefined;
  /** True: a program that the operator runs, or a server of which nobody knows whose it is. */
  readonly isPrivate?: boolean | undefined;
  readonly reasoningStyle: ReasoningStyle;
  /** True: who defines the protocol, or a server that follows it to the letter: the client's own bytes may be relayed to it. */
  readonly isFaithful?: boolean;
  /** False: nobody knows whether the model reasons. */
  readonly isReasoningKnown?: boolean;
  readonly reasoning: ResolvedReasoning;
  /** The format of opaque reasoning that this endpoint can read, e.g. `anthropic-claude-v1`; null when none. */
  readonly reasoningFormat: string | null;
  /** Parameters that this endpoint does not take. */
  readonly unsupported: ReadonlySet<Parameter>;
  /** Tokens; null when unknown. */
  readonly maxOutputTokens: number | null;
  readonly contextLength: number | null;
}
