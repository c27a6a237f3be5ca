// The plain parameters of a request: sampling, limits, stop, logprobs, answer format, web search, metadata.
// Owns their ranges (OpenAI API reference, "Create chat completion", and the gateway's own documentation);
// must not know which model takes which of them.
import type { JsonObject, Problems, ResponseFormat, WebSearchOptions } from '../../canonical/index.ts';
import {
  describe,
  readArray,
  readBoolean,
  readNumber,
  readObject,
  readString,
  readWord,
  requireString,
} from '../read-member.ts';
import type { Member, NumberRange } from '../read-member.ts';
import { decodeSchemaFormat } from '../openai/decode-schema-format.ts';
import { memberPath } from '../openai/decode-metadata.ts';

const LEVELS = ['low', 'medium', 'high'] as const;
const STOP_LIMIT = 4;
const WHOLE: NumberRange = { integer: true };
/** No upper bound here: it depends on the model, and a value above it is clamped for that model. */
const TEMPERATURE: NumberRange = { min: 0 };
const PROBABILITY: NumberRange = { min: 0, max: 1 };
const PENALTY: NumberRange = { min: -2, max: 2 };
const TOP_LOGPROBS: NumberRange = { min: 0, max: 20, integer: true };

/** The numbers and switches that need nothing but a range; each is absent when the client did not say. */
export interface SamplingParameters {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly logitBias?: JsonObject | undefined;
  readonly logprobs?: boolean | undefined;
  readonly topLogprobs?: number | undefined;
  readonly seed?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly verbosity?: string | undefined;
}

/** Decodes sampling, stop and logprobs. */
export function decodeSampling(body: JsonObject, problems: Problems): SamplingParameters {
  const n = readNumber(body['n'], 'n', problems, WHOLE);
  if (n !== undefined && n !== 1) problems.add('n', 'only 1 is supported', 'unsupported');
  const logprobs = readBoolean(body['logprobs'], 'logprobs', problems);
  const topLogprobs = readNumber(body['top_logprobs'], 'top_logprobs', problems, TOP_LOGPROBS);
  if (topLogprobs !== undefined && logprobs !== true)
    problems.add('top_logprobs', 'needs logprobs to be true');
  return {
    temperature: readNumber(body['temperature'], 'temperature', problems, TEMPERATURE),
    topP: readNumber(body['top_p'], 'top_p', problems, PROBABILITY),
    frequencyPenalty: readNumber(body['frequency_penalty'], 'frequency_penalty', problems, PENALTY),
    presencePenalty: readNumber(body['presence_penalty'], 'presence_penalty', problems, PENALTY),
    logitBias: decodeLogitBias(body['logit_bias'], problems),
    logprobs,
    topLogprobs,
    seed: readNumber(body['seed'], 'seed', problems, WHOLE),
    stop: decodeStop(body['stop'], problems),
    verbosity: readWord(body['verbosity'], 'verbosity', problems, LEVELS),
  };
}

/** Decodes `response_format`, whose schema is nested below `json_schema` in this protocol. */
export function decodeResponseFormat(value: Member, problems: Problems): ResponseFormat | undefined {
  const raw = readObject(value, 'response_format', problems);
  if (!raw) return undefined;
  const types = ['text', 'json_object', 'json_schema'] as const;
  const type = readWord(raw['type'] ?? '', 'response_format.type', problems, types);
  if (type === undefined) return undefined;
  if (type !== 'json_schema') return { type };
  const path = 'response_format.json_schema';
  const body = readObject(raw['json_schema'], path, problems);
  if (!body) {
    if (raw['json_schema'] === undefined || raw['json_schema'] === null) problems.add(path, 'is required');
    return undefined;
  }
  return decodeSchemaFormat(body, path, problems);
}

/**
 * Decodes `web_search_options`; an empty object switches search on. The location comes nested below
 * `approximate` (OpenAI) or flat, and is flat afterwards.
 */
export function decodeWebSearch(value: Member, problems: Problems): WebSearchOptions | undefined {
  const raw = readObject(value, 'web_search_options', problems);
  if (!raw) return undefined;
  const size = 'web_search_options.search_context_size';
  const contextSize = readWord(raw['search_context_size'], size, problems, LEVELS);
  const path = 'web_search_options.user_location';
  const location = readObject(raw['user_location'], path, problems);
  if (!location) return { contextSize };
  readWord(location['type'], `${path}.type`, problems, ['approximate'] as const);
  const isNested = location['approximate'] !== undefined;
  const at = isNested ? `${path}.approximate` : path;
  const place = isNested ? readObject(location['approximate'], at, problems) : location;
  const userLocation = {
    type: 'approximate',
    city: readString(place?.['city'], `${at}.city`, problems),
    country: readString(place?.['country'], `${at}.country`, problems),
    region: readString(place?.['region'], `${at}.region`, problems),
    timezone: readString(place?.['timezone'], `${at}.timezone`, problems),
  };
  return { contextSize, userLocation };
}

function decodeStop(value: Member, problems: Problems): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') {
    if (value === '') problems.add('stop', 'must not be empty');
    return [value];
  }
  if (!Array.isArray(value)) {
    problems.add('stop', `must be a string or an array of strings, not ${describe(value)}`);
    return undefined;
  }
  const elements = readArray(value, 'stop', problems) ?? [];
  if (elements.length > STOP_LIMIT) problems.add('stop', `must not have more than ${STOP_LIMIT} sequences`);
  const stop: string[] = [];
  elements.forEach((element, index) => {
    const text = requireString(element, `stop[${index}]`, problems);
    if (text !== undefined) stop.push(text);
  });
  return stop.length > 0 ? stop : undefined;
}

function decodeLogitBias(value: Member, problems: Problems): JsonObject | undefined {
  const bias = readObject(value, 'logit_bias', problems);
  if (!bias) return undefined;
  for (const [key, amount] of Object.entries(bias)) {
    const path = memberPath('logit_bias', key);
    if (!/^\d+$/.test(key)) problems.add(path, 'the key must be a token id');
    if (amount === null) problems.add(path, 'must be a number, not null');
    readNumber(amount, path, problems, { min: -100, max: 100 });
  }
  return bias;
}
