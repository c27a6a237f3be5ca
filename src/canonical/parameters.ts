// Request parameters that some protocols, providers or models do not support. `engine/adapt/adapt.ts` removes and reports
// those that an endpoint lacks, so that encoders need not check.
import type { JsonObject } from '../base/json/index.ts';

export interface WebSearchOptions {
  readonly contextSize?: string | undefined;
  /** `{type:"approximate", city, country, region, timezone}`, flat. */
  readonly userLocation?: JsonObject | undefined;
}

/** Members are undefined if the client did not set them. */
export interface Parameters {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  /** Token ids to numbers. */
  readonly logitBias?: JsonObject | undefined;
  readonly logprobs?: boolean | undefined;
  readonly topLogprobs?: number | undefined;
  readonly seed?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly verbosity?: string | undefined;
  readonly webSearch?: WebSearchOptions | undefined;
}

export type Parameter = keyof Parameters;

/** Names for reports: those of Chat Completions. */
export const PARAMETERS: Readonly<Record<Parameter, string>> = {
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
};

/** Values equal to the usual default of upstreams. Omitting them loses nothing. */
const NEUTRAL: Parameters = {
  temperature: 1,
  topP: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  logprobs: false,
  parallelToolCalls: true,
  verbosity: 'medium',
};

/** True for a value equal to the usual default of upstreams. */
export function isNeutral<Name extends Parameter>(name: Name, value: Parameters[Name]): boolean {
  return value !== undefined && NEUTRAL[name] === value;
}

/** Parameters that a protocol lacks. @param has parameters that it supports */
export function unsupportedExcept(has: Iterable<Parameter>): ReadonlySet<Parameter> {
  const lacking = new Set(Object.keys(PARAMETERS) as Parameter[]);
  for (const parameter of has) lacking.delete(parameter);
  return lacking;
}
