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
import type { Member } from '../read-member.ts';

const LEVELS = ['low', 'medium', 'high'] as const;
const FORMAT_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const STOP_LIMIT = 4;
const METADATA_LIMITS = { pairs: 16, keyLength: 64, valueLength: 512 };

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
  const n = readNumber(body['n'], 'n', problems, { integer: true });
  if (n !== undefined && n !== 1) problems.add('n', 'only 1 is supported', 'unsupported');
  const logprobs = readBoolean(body['logprobs'], 'logprobs', problems);
  const topRange = { min: 0, max: 20, integer: true };
  const topLogprobs = readNumber(body['top_logprobs'], 'top_logprobs', problems, topRange);
  if (topLogprobs !== undefined && logprobs !== true)
    problems.add('top_logprobs', 'needs logprobs to be true');
  const penalty = { min: -2, max: 2 };
  return {
    // No upper bound here: it depends on the model, and a value above it is clamped for that model.
    temperature: readNumber(body['temperature'], 'temperature', problems, { min: 0 }),
    topP: readNumber(body['top_p'], 'top_p', problems, { min: 0, max: 1 }),
    frequencyPenalty: readNumber(body['frequency_penalty'], 'frequency_penalty', problems, penalty),
    presencePenalty: readNumber(body['presence_penalty'], 'presence_penalty', problems, penalty),
    logitBias: decodeLogitBias(body['logit_bias'], problems),
    logprobs,
    topLogprobs,
    seed: readNumber(body['seed'], 'seed', problems, { integer: true }),
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
  const name = requireString(body['name'], `${path}.name`, problems);
  if (name !== undefined && !FORMAT_NAME.test(name)) {
    problems.add(`${path}.name`, 'must be 1 to 64 letters, digits, underscores or dashes');
  }
  const schema = readObject(body['schema'], `${path}.schema`, problems);
  const strict = readBoolean(body['strict'], `${path}.strict`, problems);
  const description = readString(body['description'], `${path}.description`, problems);
  return name === undefined ? undefined : { type, name, schema, strict, description };
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

/** Decodes `metadata`: at most 16 pairs of strings. */
export function decodeMetadata(
  value: Member,
  problems: Problems,
): Readonly<Record<string, string>> | undefined {
  const raw = readObject(value, 'metadata', problems);
  if (!raw) return undefined;
  const { pairs, keyLength, valueLength } = METADATA_LIMITS;
  const entries = Object.entries(raw);
  if (entries.length > pairs) problems.add('metadata', `must not have more than ${pairs} pairs`);
  const strings: [string, string][] = [];
  for (const [key, text] of entries.slice(0, pairs)) {
    const path = memberPath('metadata', key);
    if (key.length > keyLength) problems.add(path, `the key must not have more than ${keyLength} characters`);
    else if (typeof text !== 'string') problems.add(path, `must be a string, not ${describe(text)}`);
    else if (text.length > valueLength)
      problems.add(path, `must not have more than ${valueLength} characters`);
    else strings.push([key, text]);
  }
  return Object.fromEntries(strings);
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

/** A path to a member that the client named: cut, because it goes into the answer. */
function memberPath(parent: string, key: string): string {
  return `${parent}.${key.length > 64 ? `${key.slice(0, 64)}…` : key}`;
}
