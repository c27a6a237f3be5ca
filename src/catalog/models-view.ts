// Bodies of `GET /models` and `GET /models/{id}`: OpenAI's own keys, with those that model browsers already read
// (display name, modalities, prices, limits) beside them. Only shapes; which models a key may see is decided outside.
import { PARAMETERS } from '../canonical/index.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../base/json/index.ts';
import type { Parameter, ProtocolName } from '../canonical/index.ts';
import { findProtocol } from '../protocols/index.ts';
import type { Endpoint, Model } from './endpoint.ts';
import { SPECIAL_MODELS } from './families/index.ts';
import type { Price, Rate } from './price.ts';

/** The list of models in OpenAI's envelope. */
export function encodeModelList(models: readonly Model[]): JsonObject {
  const data = models.map(encodeModel);
  // The last two as OpenRouter has them: all models are on this page.
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
    // OpenRouter's names for the same facts, which user interfaces already parse.
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
    // Members that OpenRouter's SDK demands besides, of which nothing is known here.
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

/** Arrays of `{value, unit, currency, conditions?}`, one entry per step; a class without a known rate is absent. */
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

/** Conditions count thousands of prompt tokens, as ZenMux's model list does. */
function perMillion(value: number, tokens: Condition | undefined): JsonObject {
  if (!tokens) return { value, unit: 'perMTokens', currency: 'USD' };
  const condition: MutableJsonObject = { unit: 'kTokens' };
  for (const [name, limit] of Object.entries(tokens)) condition[name] = limit / 1000;
  return { value, unit: 'perMTokens', currency: 'USD', conditions: { prompt_tokens: condition } };
}

function perCount(value: number): JsonObject {
  return { value, unit: 'perCount', currency: 'USD' };
}

/**
 * Price that OpenRouter lists where none can be named beforehand (`openrouter/auto`, 2026-11): never zero, which is
 * free.
 */
const UNKNOWN_PRICE = '-1';

/** OpenRouter's form: USD per token as a string, at the base of every rate. */
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

/** A number without exponent and without the noise of binary fractions. */
function decimal(value: number): string {
  const text = value.toFixed(12).replace(/0+$/, '');
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

/** Parameters for which a protocol has no member, wherever it is served. */
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

/** Parameters that every text model takes, whatever serves it. */
const ALWAYS = [
  'max_tokens',
  'max_completion_tokens',
  'tools',
  'tool_choice',
  'response_format',
  'structured_outputs',
];
/** `stop` works everywhere: where a server has no field for it, the gateway cuts the answer. */
const EMULATED: ReadonlySet<Parameter> = new Set(['stop']);

/**
 * Names of the request parameters that have an effect at an endpoint.
 * @param lacking what its protocol has no field for
 */
function supportedParameters(endpoint: Endpoint, lacking: ReadonlySet<Parameter>): readonly string[] {
  const names = [...ALWAYS];
  for (const [parameter, name] of Object.entries(PARAMETERS) as [Parameter, string][]) {
    const lacks = endpoint.unsupported.has(parameter) || lacking.has(parameter);
    if (!lacks || EMULATED.has(parameter)) names.push(name);
  }
  if (endpoint.reasoningStyle !== 'none') names.push('reasoning', 'include_reasoning', 'reasoning_effort');
  return names.sort();
}
