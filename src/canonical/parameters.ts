// Parameters of a request that some protocol, provider or model lacks: the only list of them. The engine removes those that an
// endpoint lacks in one place (`engine/adapt/adapt.ts`) and reports each, so that codecs need not ask.
import type { JsonObject } from '../base/json/index.ts';

export interface WebSearchOptions {
  readonly contextSize?: string | undefined;
  /** `{type:"approximate", city, country, region, timezone}`, flat. */
  readonly userLocation?: JsonObject | undefined;
}

/** Each is undefined where the client did not say. */
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

/** The names that reports use: those of Chat Completions. */
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

/** Values that ask for what an upstream does anyway: leaving one out loses nothing. */
const NEUTRAL: Parameters = {
  temperature: 1,
  topP: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  logprobs: false,
  parallelToolCalls: true,
  verbosity: 'medium',
};

/** True for a value that asks for what an upstream does anyway. */
export function isNeutral<Name extends Parameter>(name: Name, value: Parameters[Name]): boolean {
  return value !== undefined && NEUTRAL[name] === value;
}

/** The parameters that a protocol lacks. @param has those that it has */
export function lackingBut(has: Iterable<Parameter>): ReadonlySet<Parameter> {
  const lacking = new Set(Object.keys(PARAMETERS) as Parameter[]);
  for (const parameter of has) lacking.delete(parameter);
  return lacking;
}
