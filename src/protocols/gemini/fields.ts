// Members of Gemini's request bodies that the gateway interprets, in lower camel case.
import { type Report, TEXTS, type ClientNames } from '../../canonical/index.ts';
import { atMost, FieldTable, type Field, type WriteScope } from '../members/field-table.ts';
import { boolean, integer, number, object, literal, string, strings } from '../members/read-member.ts';
import { gatewayFields } from '../members/shared-fields.ts';

/** API reference, `GenerationConfig` (2026-11). */
export const MAX_TEMPERATURE = 2;
const MAX_STOP_SEQUENCES = 5;
const MAX_SEED = 2_147_483_647;

/** `generationConfig`: every member that the gateway interprets (API reference, `GenerationConfig`, 2026-11). */
const CONFIG_FIELDS: readonly Field<'supported'>[] = [
  {
    name: 'maxOutputTokens',
    to: 'maxOutputTokens',
    is: integer(1),
    write: limitOf,
    support: 'supported',
    note: 'Positive integer; includes thoughts.',
  },
  {
    name: 'temperature',
    to: 'temperature',
    is: number(0),
    write: atMost('temperature', MAX_TEMPERATURE, `the maximum of this model is ${MAX_TEMPERATURE}`),
    support: 'supported',
    note: TEXTS.clamped,
  },
  { name: 'topP', to: 'topP', is: number(0, 1), support: 'supported', note: '0 to 1.' },
  { name: 'topK', to: 'topK', is: number(0), support: 'supported', note: 'Not negative.' },
  {
    name: 'frequencyPenalty',
    to: 'frequencyPenalty',
    is: number(-2, 2),
    support: 'supported',
    note: '-2 to 2.',
  },
  {
    name: 'presencePenalty',
    to: 'presencePenalty',
    is: number(-2, 2),
    support: 'supported',
    note: '-2 to 2.',
  },
  {
    name: 'responseLogprobs',
    to: 'logprobs',
    is: boolean,
    write: (asked) => asked || undefined,
    support: 'supported',
    note: 'Boolean.',
  },
  {
    name: 'logprobs',
    to: 'topLogprobs',
    is: integer(0, 20),
    write: (count, { request }) => (request.logprobs && count ? count : undefined),
    support: 'supported',
    note: '0 to 20; requires `responseLogprobs: true`.',
  },
  { name: 'seed', to: 'seed', is: integer(), write: seedOf, support: 'supported', note: 'An integer.' },
  {
    name: 'stopSequences',
    to: 'stop',
    is: strings(MAX_STOP_SEQUENCES),
    write: stopsOf,
    support: 'supported',
    note: 'Up to 5 strings.',
  },
  { name: 'candidateCount', is: literal(1), support: 'supported', note: 'Only 1.' },
  {
    name: 'responseMimeType',
    shape: string.schema,
    support: 'supported',
    note: '`application/json`, `text/plain`, `text/x.enum`.',
  },
  {
    name: 'responseSchema',
    shape: object.schema,
    support: 'supported',
    note: 'A schema in Google\u2019s format.',
  },
  { name: 'responseJsonSchema', shape: object.schema, support: 'supported', note: 'A JSON Schema.' },
  {
    name: 'thinkingConfig',
    shape: object.schema,
    support: 'supported',
    note: '`includeThoughts`, `thinkingBudget` or `thinkingLevel`; resolved for each model.',
  },
];

export const CONFIG_TABLE = new FieldTable(CONFIG_FIELDS, { at: 'generationConfig' });

function limitOf(limit: number, scope: WriteScope): number {
  const most = scope.target.maxOutputTokens ?? Infinity;
  return atMost('max_completion_tokens', most, `the maximum of this model is ${most}`)(limit, scope);
}

function seedOf(seed: number, { report }: { readonly report: Report }): number | undefined {
  if (Math.abs(seed) <= MAX_SEED) return seed;
  report.add('seed', 'dropped', 'Gemini supports only 32-bit seeds');
  return undefined;
}

function stopsOf(stop: readonly string[], { report }: { readonly report: Report }): readonly string[] {
  if (stop.length <= MAX_STOP_SEQUENCES) return stop;
  report.add(
    'stop',
    'dropped',
    `Gemini supports ${MAX_STOP_SEQUENCES} stop sequences; the others are dropped`,
  );
  return stop.slice(0, MAX_STOP_SEQUENCES);
}

/** The only gateway option whose name has more than one word. */
const ROUTING = 'model_routing_config';

/** `generateContent` (API reference, 2026-11), in lower camel case. */
export const REQUEST_FIELDS: readonly Field<'supported' | 'gateway'>[] = [
  {
    name: 'model',
    support: 'supported',
    note: 'The model in the path takes precedence.',
    shape: string.schema,
  },
  {
    name: 'contents',
    support: 'supported',
    note: 'Required. Roles `user` and `model`.',
    shape: { type: 'array', items: { type: 'object' } },
  },
  { name: 'systemInstruction', support: 'supported', note: 'Text parts.', shape: object.schema },
  {
    name: 'tools',
    support: 'supported',
    note: 'Function declarations, and tools that Google runs.',
    shape: { type: 'array', items: { type: 'object' } },
    holds: ['webSearch'],
  },
  { name: 'toolConfig', support: 'supported', note: '`functionCallingConfig`.', shape: object.schema },
  {
    name: 'generationConfig',
    support: 'supported',
    note: 'Limits, sampling, response format and thinking.',
    shape: CONFIG_TABLE.schema,
    holds: [...CONFIG_TABLE.has],
  },
  ...gatewayFields('Accepted; token counts are always sent.').map((field) =>
    field.name === ROUTING ? { ...field, name: 'modelRoutingConfig' } : field,
  ),
];

export const TABLE = new FieldTable(REQUEST_FIELDS);

/** Gateway options. */
export const GATEWAY = TABLE.named('gateway');

/** Gateway options, which Google refuses. The longest one is listed in both spellings. */
export const GATEWAY_KEYS: ReadonlySet<string> = new Set([...GATEWAY, ROUTING]);

/** Members of `generateContent`. All others are `extra`. */
export const KNOWN_FIELDS = TABLE.named('supported', 'gateway');

const SCHEMAS = ['generationConfig.responseJsonSchema', 'generationConfig.responseSchema'] as const;

/**
 * Names in Gemini's API of members for which reports use the names of Chat Completions (API reference,
 * `GenerateContentRequest`, 2026-11).
 */
export const CLIENT_NAMES: ClientNames = {
  messages: ['contents'],
  input: ['contents'],
  tool_choice: ['toolConfig.functionCallingConfig'],
  ...CONFIG_TABLE.names,
  response_format: [...SCHEMAS, 'generationConfig.responseMimeType'],
  'response_format.json_schema': SCHEMAS,
  'response_format.json_schema.schema': SCHEMAS,
  reasoning: ['generationConfig.thinkingConfig'],
  'reasoning.effort': ['generationConfig.thinkingConfig.thinkingLevel'],
  'reasoning.max_tokens': ['generationConfig.thinkingConfig.thinkingBudget'],
  'reasoning.summary': ['generationConfig.thinkingConfig.includeThoughts'],
  'reasoning.exclude': ['generationConfig.thinkingConfig.includeThoughts'],
};
