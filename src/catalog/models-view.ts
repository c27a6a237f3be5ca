// Bodies of `GET /models` and `GET /models/{id}`: OpenAI's members, and additional ones that model browsers read
// (display name, modalities, prices, limits).
import { PARAMETERS } from '../canonical/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../base/json/index.ts';
import type { Parameter, ProtocolName } from '../canonical/index.ts';
import { findProtocol } from '../protocols/index.ts';
import type { Endpoint, Model } from './endpoint.ts';
import { SPECIAL_MODELS } from './families/index.ts';
import type { Price, Rate } from './price.ts';

/** List of models in OpenAI's envelope. */
export function encodeModelList(models: readonly Model[]): JsonObject {
  const data = models.map(encodeModel);
  // `total_count` and `links` as in OpenRouter's list. All models are on one page.
  return { object: 'list', data, total_count: data.length, links: { next: null } };
}

/** One model. Prices and supported parameters are those of its first endpoint. */
export function encodeModel(model: Model): JsonObject {
  const first = model.endpoints[0];
  const price = first?.price ?? null;
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    display_name: model.displayName,
    input_modalities: [...model.inputModalities],
    output_modalities: [...model.outputModalities],
    capabilities: { reasoning: model.reasoningStyle !== 'none' },
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    pricings: price ? encodePricings(price) : {},
    // OpenRouter's names for the same facts, which user interfaces already read.
    name: model.displayName,
    architecture: {
      modality: `${model.inputModalities.join('+')}->${model.outputModalities.join('+')}`,
      input_modalities: [...model.inputModalities],
      output_modalities: [...model.outputModalities],
      tokenizer: 'Other',
      instruct_type: null,
    },
    pricing: encodePerToken(price),
    top_provider: {
      context_length: model.contextLength,
      max_completion_tokens: model.maxOutputTokens,
      is_moderated: false,
    },
    supported_parameters: parametersOf(model),
    // Members that OpenRouter's SDK requires, but that are unknown here.
    canonical_slug: model.id,
    default_parameters: null,
    per_request_limits: null,
    supported_voices: null,
    links: { details: `/v1/models/${model.id}` },
    endpoints: model.endpoints.map((endpoint) => ({
      slug: endpoint.slug,
      provider: endpoint.provider,
      protocol: endpoint.protocol,
    })),
  };
}

type Condition = { readonly gte?: number; readonly gt?: number; readonly lte?: number };

/** Arrays of `{value, unit, currency, conditions?}`, one entry per step. Unknown rates are absent. */
function encodePricings(price: Price): JsonObject {
  const pricings: MutableJsonObject = {};
  const add = (key: string, rate: Rate | undefined): void => {
    if (rate !== undefined) pricings[key] = encodeRate(rate);
  };
  add('prompt', price.input);
  add('completion', price.output);
  add('input_cache_read', price.cacheRead);
  add('input_cache_write_5_min', price.cacheWrite5m);
  add('input_cache_write_1_h', price.cacheWrite1h);
  add('audio', price.inputAudio);
  add('image', price.inputImage);
  add('internal_reasoning', price.outputReasoning);
  if (price.request !== undefined) pricings['request'] = [perCount(price.request)];
  const search = price.tools?.['web_search'];
  if (search !== undefined) pricings['web_search'] = [perCount(search)];
  return pricings;
}

function encodeRate(rate: Rate): JsonValue {
  if (typeof rate === 'number') return [perMillion(rate, undefined)];
  const first = rate.steps[0];
  const entries = [perMillion(rate.base, first ? { lte: first.above } : undefined)];
  rate.steps.forEach((step, index) => {
    const next = rate.steps[index + 1];
    entries.push(perMillion(step.rate, { gt: step.above, ...(next ? { lte: next.above } : {}) }));
  });
  return entries;
}

/** Conditions are in thousands of prompt tokens, as in ZenMux's model list. */
function perMillion(value: number, tokens: Condition | undefined): JsonObject {
  if (!tokens) return { value, unit: 'perMTokens', currency: 'USD' };
  const condition: MutableJsonObject = { unit: 'kTokens' };
  for (const [name, limit] of Object.entries(tokens)) condition[name] = limit / 1000;
  return { value, unit: 'perMTokens', currency: 'USD', conditions: { prompt_tokens: condition } };
}

function perCount(value: number): JsonObject {
  return { value, unit: 'perCount', currency: 'USD' };
}

/** OpenRouter's value for prices that are not known in advance (`openrouter/auto`, 2026-11). Zero would mean free. */
const UNKNOWN_PRICE = '-1';

/** OpenRouter's form: USD per token as a string, at the base rates. */
function encodePerToken(price: Price | null): JsonObject {
  const pricing: MutableJsonObject = { prompt: UNKNOWN_PRICE, completion: UNKNOWN_PRICE };
  if (!price) return pricing;
  const add = (key: string, rate: Rate | undefined): void => {
    if (rate !== undefined) pricing[key] = decimal((typeof rate === 'number' ? rate : rate.base) / 1_000_000);
  };
  add('prompt', price.input);
  add('completion', price.output);
  add('input_cache_read', price.cacheRead);
  add('input_cache_write', price.cacheWrite5m);
  add('audio', price.inputAudio);
  add('internal_reasoning', price.outputReasoning);
  if (price.request !== undefined) pricing['request'] = decimal(price.request);
  const search = price.tools?.['web_search'];
  if (search !== undefined) pricing['web_search'] = decimal(search);
  return pricing;
}

/** Decimal text without exponent and rounding noise. */
function decimal(value: number): string {
  const text = value.toFixed(12).replace(/0+$/, '');
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

/** Parameters that a protocol has no member for. */
function lackingIn(protocol: ProtocolName): ReadonlySet<Parameter> {
  return findProtocol(protocol)?.upstream.lacks ?? new Set();
}

function parametersOf({ endpoints: [first], outputModalities }: Model): readonly string[] {
  const special = SPECIAL_MODELS.find((known) =>
    known.outputModalities.some((each) => outputModalities.includes(each)),
  );
  if (special) return special.parameters;
  return first ? supportedParameters(first, lackingIn(first.protocol)) : [...ALWAYS].sort();
}

/** Parameters that all text models accept. */
const ALWAYS = [
  'max_tokens',
  'max_completion_tokens',
  'tools',
  'tool_choice',
  'response_format',
  'structured_outputs',
];
/** `stop` always works, because the gateway cuts the answer if the server does not support it. */
const EMULATED: ReadonlySet<Parameter> = new Set(['stop']);

/** Names of the effective parameters of an endpoint. @param lacking parameters that its protocol has no member for */
function supportedParameters(endpoint: Endpoint, lacking: ReadonlySet<Parameter>): readonly string[] {
  const names = [...ALWAYS];
  for (const [parameter, name] of Object.entries(PARAMETERS) as [Parameter, string][]) {
    const lacks = endpoint.unsupported.has(parameter) || lacking.has(parameter);
    if (!lacks || EMULATED.has(parameter)) names.push(name);
  }
  if (endpoint.reasoningStyle !== 'none') names.push('reasoning', 'include_reasoning', 'reasoning_effort');
  return names.sort();
}
