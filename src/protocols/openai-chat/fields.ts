// Members of a Chat Completions request body, and how the gateway handles each. Decoding, removal in the relay lane and
// `docs/chat-completions` are derived from this list.
import { EFFORTS, TEXTS, type ClientNames } from '../../canonical/index.ts';
import { atMost, FieldTable, type Field } from '../members/field-table.ts';
import {
  boolean,
  integer,
  number,
  object,
  literal,
  forbidden,
  string,
  oneOf,
} from '../members/read-member.ts';
import { gatewayFields, MODEL, STREAM } from '../members/shared-fields.ts';
import { LEVELS, LOGIT_BIAS, STOP, TEXT_ONLY } from './member-kinds.ts';

/**
 * `supported`: decoded and sent. `passed`: type-checked and sent to upstreams that know it, otherwise reported.
 * `ignored`: type-checked, dropped and reported. `rejected`: any value but null is a 400. `gateway`: a gateway option
 * that is never sent to an upstream.
 */
export type Support = 'supported' | 'passed' | 'ignored' | 'rejected' | 'gateway';

/** API reference, "Create chat completion", `temperature`. */
export const MAX_TEMPERATURE = 2;
/** Unbounded here: models have their own maximum, to which a value is clamped. */
const TEMPERATURE = number(0);

/** Every documented member, in the order of the documentation. */
export const REQUEST_FIELDS: readonly Field<Support>[] = [
  MODEL,
  {
    name: 'messages',
    shape: { type: 'array', items: { type: 'object' } },
    support: 'supported',
    note: 'Required. Roles `system`, `developer`, `user`, `assistant`, `tool`; the role `function` is rejected with 400.',
  },
  {
    name: 'max_completion_tokens',
    shape: integer(1).schema,
    support: 'supported',
    note: 'Positive integer; includes reasoning tokens.',
  },
  {
    name: 'max_tokens',
    shape: integer(1).schema,
    support: 'supported',
    note: 'Deprecated. Used as `max_completion_tokens` if that is absent, with a report.',
  },
  {
    name: 'temperature',
    to: 'temperature',
    is: TEMPERATURE,
    write: atMost('temperature', MAX_TEMPERATURE, TEXTS.largestTemperature(MAX_TEMPERATURE)),
    support: 'supported',
    note: TEXTS.clamped,
  },
  { name: 'top_p', to: 'topP', is: number(0, 1), support: 'supported', note: '0 to 1.' },
  { name: 'n', is: literal(1), support: 'supported', note: 'Only 1.' },
  {
    name: 'frequency_penalty',
    to: 'frequencyPenalty',
    is: number(-2, 2),
    support: 'supported',
    note: '-2 to 2.',
  },
  {
    name: 'presence_penalty',
    to: 'presencePenalty',
    is: number(-2, 2),
    support: 'supported',
    note: '-2 to 2.',
  },
  { name: 'stop', to: 'stop', is: STOP, support: 'supported', note: 'A string or up to 4 strings.' },
  {
    name: 'logit_bias',
    to: 'logitBias',
    is: LOGIT_BIAS,
    support: 'supported',
    note: 'Maps token ids to numbers from -100 to 100.',
  },
  { name: 'logprobs', to: 'logprobs', is: boolean, support: 'supported', note: 'Boolean.' },
  {
    name: 'top_logprobs',
    to: 'topLogprobs',
    is: integer(0, 20),
    support: 'supported',
    note: '0 to 20; requires `logprobs: true`.',
  },
  {
    name: 'tools',
    shape: { type: 'array', items: { type: 'object' } },
    support: 'supported',
    note: 'Function and custom tools; names are unique.',
  },
  {
    name: 'tool_choice',
    shape: { type: ['string', 'object', 'null'] },
    support: 'supported',
    note: '`none`, `auto`, `required`, a named tool, or `allowed_tools` (flat or nested).',
  },
  {
    name: 'parallel_tool_calls',
    to: 'parallelToolCalls',
    is: boolean,
    write: 'elsewhere',
    support: 'supported',
    note: 'Boolean.',
  },
  {
    name: 'response_format',
    shape: object.schema,
    support: 'supported',
    note: '`text`, `json_object` or `json_schema`; `json_object` with a `schema` is treated as `json_schema`.',
  },
  {
    name: 'reasoning_effort',
    shape: oneOf(...EFFORTS).schema,
    support: 'supported',
    note: '`none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; `reasoning.effort` takes precedence.',
  },
  {
    name: 'verbosity',
    to: 'verbosity',
    is: oneOf(...LEVELS),
    support: 'supported',
    note: '`low`, `medium` or `high`.',
  },
  {
    name: 'web_search_options',
    shape: object.schema,
    holds: ['webSearch'],
    support: 'supported',
    note: 'An empty object enables web search.',
  },
  {
    name: 'metadata',
    shape: { type: 'object', additionalProperties: { type: 'string' } },
    support: 'supported',
    note: 'Up to 16 pairs; keys up to 64 characters, values are strings of up to 512. Stored in the record.',
  },
  STREAM,
  {
    name: 'stream_options',
    shape: object.schema,
    support: 'supported',
    note: '`include_usage`; requires `stream: true`.',
  },
  {
    name: 'seed',
    to: 'seed',
    is: integer(),
    support: 'supported',
    note: 'Sent if the upstream supports it; otherwise dropped with a report.',
  },
  {
    name: 'reasoning',
    shape: object.schema,
    support: 'gateway',
    note: '`enabled`, `effort`, `max_tokens`, `exclude`, `summary`; resolved for each model.',
  },
  {
    name: 'include_reasoning',
    shape: boolean.schema,
    support: 'gateway',
    note: '`false` means `reasoning.exclude: true`. Contradictory values are rejected with 400.',
  },
  ...gatewayFields('`include: true` adds token counts to streams.'),
  {
    name: 'user',
    is: string,
    support: 'passed',
    note: 'A string. In other protocols `safety_identifier`, `metadata.user_id`.',
  },
  {
    name: 'safety_identifier',
    is: string,
    support: 'passed',
    note: 'A string; takes precedence over `user` if an upstream has one field for both.',
  },
  { name: 'prompt_cache_key', is: string, support: 'passed', note: 'A string.' },
  { name: 'prompt_cache_retention', is: string, support: 'passed', note: 'A string.' },
  { name: 'prediction', is: object, support: 'passed', note: 'An object.' },
  {
    name: 'modalities',
    is: TEXT_ONLY,
    support: 'passed',
    note: 'Values other than `text` are rejected with 400.',
  },
  {
    name: 'service_tier',
    is: string,
    support: 'passed',
    note: 'A string. The cost is unknown for tiers without a listed price (`flex`, `priority`).',
  },
  {
    name: 'store',
    is: boolean,
    support: 'ignored',
    note: 'Boolean. Upstreams are never asked to store the conversation.',
  },
  {
    name: 'audio',
    is: forbidden('audio output is not supported'),
    support: 'rejected',
    note: 'Audio output is not supported.',
  },
  {
    name: 'functions',
    is: forbidden('is deprecated and not accepted; use tools'),
    support: 'rejected',
    note: 'Deprecated and not accepted; use `tools`.',
  },
  {
    name: 'function_call',
    is: forbidden('is deprecated and not accepted; use tool_choice'),
    support: 'rejected',
    note: 'Deprecated and not accepted; use `tool_choice`.',
  },
];

/** The foreign members exist at other vendors, but not in OpenAI's own API. */
export const TABLE = new FieldTable(REQUEST_FIELDS, {
  foreign: [{ name: 'top_k', support: 'passed', note: 'Not negative.', to: 'topK', is: number(0) }],
});

/** Names of every documented member. All others are `extra`. */
export const KNOWN_FIELDS = TABLE.named('supported', 'passed', 'ignored', 'rejected', 'gateway');

/** Members that the gateway does not interpret. */
export const PASSED_FIELDS = TABLE.named('passed');

/** Members that identify the client's end user. */
const END_USER: ReadonlySet<string> = new Set(['safety_identifier', 'user']);

/** Members that the canonical request holds, or that stay inside the gateway. */
export const HELD_FIELDS: ReadonlySet<string> = new Set([
  ...TABLE.named('supported', 'ignored', 'rejected', 'gateway'),
  ...END_USER,
]);

/** Members that are never sent to an upstream of this protocol. */
export const WITHHELD_FIELDS = TABLE.named('gateway', 'ignored', 'rejected');

/** Members that are dropped and reported. */
export const IGNORED_FIELDS = TABLE.named('ignored');

/** Gateway options, which are never sent to any upstream. */
export const GATEWAY_KEYS = TABLE.named('gateway');

/** Members that the API documents as unsupported, in its order. The gateway does not act on them. */
export const UNSUPPORTED_FIELDS: readonly string[] = [
  'audio',
  'modalities',
  'functions',
  'function_call',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'store',
  'service_tier',
  'prediction',
  'seed',
  'user',
  'max_tokens',
];

/** Members that Chat Completions can express in several ways. All other names equal those of the reports. */
export const CLIENT_NAMES: ClientNames = {
  max_completion_tokens: ['max_completion_tokens', 'max_tokens'],
  safety_identifier: ['safety_identifier', 'user'],
  reasoning: ['reasoning', 'reasoning_effort', 'include_reasoning'],
  'reasoning.effort': ['reasoning.effort', 'reasoning_effort'],
  'reasoning.exclude': ['reasoning.exclude', 'include_reasoning'],
  'response_format.strict': ['response_format.json_schema.strict'],
  'tools[].strict': ['tools[].function.strict'],
};
