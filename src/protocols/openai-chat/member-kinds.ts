// Kinds of members that only Chat Completions has (OpenAI API reference, "Create chat completion").
import type { JsonObject } from '../../base/json/index.ts';
import { type Problems, TEXTS } from '../../canonical/index.ts';
import { memberPath } from '../openai/decode-members.ts';
import {
  type Kind,
  describe,
  type Member,
  readArray,
  readNumber,
  readObject,
  readStrings,
  requireString,
} from '../members/read-member.ts';

export const LEVELS = ['low', 'medium', 'high'] as const;
const STOP_LIMIT = 4;

/** A string or up to 4 strings. */
export const STOP: Kind<readonly string[]> = {
  read: decodeStop,
  schema: {
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: STOP_LIMIT },
      { type: 'null' },
    ],
  },
};

/** Map of token ids to numbers from -100 to 100. */
export const LOGIT_BIAS: Kind<JsonObject> = {
  read: decodeLogitBias,
  schema: {
    type: 'object',
    propertyNames: { pattern: '^\\d+$' },
    additionalProperties: { type: 'number', minimum: -100, maximum: 100 },
  },
};

/** Output modalities. Only `text` is supported. */
export const TEXT_ONLY: Kind<readonly string[]> = {
  read: (value, path, problems) => {
    const modalities = readStrings(value, path, problems);
    if (modalities?.some((modality) => modality !== 'text'))
      problems.add(path, 'only text is supported', 'unsupported');
    return modalities;
  },
  schema: { type: 'array', items: { type: 'string', enum: ['text'] } },
};

function decodeStop(value: Member, path: string, problems: Problems): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') {
    if (value === '') problems.add(path, 'must not be empty');
    return [value];
  }
  if (!Array.isArray(value)) {
    problems.add(path, `must be a string or an array of strings, not ${describe(value)}`);
    return undefined;
  }
  const elements = readArray(value, path, problems) ?? [];
  if (elements.length > STOP_LIMIT) problems.add(path, TEXTS.tooManySequences(STOP_LIMIT));
  const stop: string[] = [];
  elements.forEach((element, index) => {
    const text = requireString(element, `${path}[${index}]`, problems);
    if (text !== undefined) stop.push(text);
  });
  return stop.length > 0 ? stop : undefined;
}

function decodeLogitBias(value: Member, path: string, problems: Problems): JsonObject | undefined {
  const bias = readObject(value, path, problems);
  if (!bias) return undefined;
  for (const [key, amount] of Object.entries(bias)) {
    const at = memberPath(path, key);
    if (!/^\d+$/.test(key)) problems.add(at, 'the key must be a token id');
    if (amount === null) problems.add(at, 'must be a number, not null');
    readNumber(amount, at, problems, { min: -100, max: 100 });
  }
  return bias;
}
