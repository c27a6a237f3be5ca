// Members of a Responses request body, and how the gateway handles each. Decoding, removal in the relay lane and the
// documentation are derived from this list.
import { TEXTS, type ClientNames } from '../../canonical/index.ts';
import { atMost, FieldTable, type Field } from '../members/field-table.ts';
import { boolean, integer, number, object, string, oneOf } from '../members/read-member.ts';
import { gatewayFields, MODEL, STREAM } from '../members/shared-fields.ts';

/** API reference, "Create a model response", `temperature`. */
export const MAX_TEMPERATURE = 2;
const TEXT_OR_OBJECT = { type: ['string', 'object', 'null'] };

/**
 * `supported`: decoded and sent. `state`: refers to the gateway's own storage. `hint`: sent to an upstream that has the
 * member, without meaning for the gateway. `gateway`: a gateway option that is never sent to an upstream.
 */
type Support = 'supported' | 'state' | 'hint' | 'gateway';

/**
 * Every documented member, in the order of the documentation (OpenAI API reference, "Create a model response", 2026-11;
 * the penalties are from Open Responses, 2026-04).
 */
export const REQUEST_FIELDS: readonly Field<Support>[] = [
  MODEL,
  {
    name: 'input',
    shape: { type: ['string', 'array', 'null'] },
    support: 'supported',
    note: 'A string, or an array of items.',
  },
  {
    name: 'instructions',
    shape: { type: ['string', 'array', 'null'] },
    support: 'supported',
    note: 'A string or items; not inherited by later turns.',
  },
  {
    name: 'max_output_tokens',
    to: 'maxOutputTokens',
    is: integer(1),
    write: 'elsewhere',
    support: 'supported',
    note: 'Positive integer; includes reasoning tokens.',
  },
  {
    name: 'temperature',
    to: 'temperature',
    is: number(0, MAX_TEMPERATURE),
    write: atMost('temperature', MAX_TEMPERATURE, TEXTS.largestTemperature(MAX_TEMPERATURE)),
    support: 'supported',
    note: '0 to 2; clamped to the range of the model.',
  },
  { name: 'top_p', to: 'topP', is: number(0, 1), support: 'supported', note: '0 to 1.' },
  {
    name: 'presence_penalty',
    to: 'presencePenalty',
    is: number(-2, 2),
    isForeign: true,
    support: 'supported',
    note: '-2 to 2.',
  },
  {
    name: 'frequency_penalty',
    to: 'frequencyPenalty',
    is: number(-2, 2),
    isForeign: true,
    support: 'supported',
    note: '-2 to 2.',
  },
  {
    name: 'top_logprobs',
    to: 'topLogprobs',
    is: integer(0, 20),
    write: (count, { request }) => (request.logprobs ? count : undefined),
    support: 'supported',
    note: '0 to 20; requires `message.output_text.logprobs` in `include`.',
  },
  {
    name: 'tools',
    shape: { type: 'array', items: { type: 'object' } },
    holds: ['webSearch'],
    support: 'supported',
    note: 'Functions, custom tools, namespaces, and tools that the client or the upstream runs.',
  },
  {
    name: 'tool_choice',
    shape: TEXT_OR_OBJECT,
    support: 'supported',
    note: '`none`, `auto`, `required`, one tool, or `allowed_tools`.',
  },
  {
    name: 'parallel_tool_calls',
    to: 'parallelToolCalls',
    is: boolean,
    write: 'elsewhere',
    support: 'supported',
    note: 'Boolean; the default is true.',
  },
  {
    name: 'text',
    shape: object.schema,
    holds: ['verbosity'],
    support: 'supported',
    note: '`format` (`text`, `json_object`, `json_schema`) and `verbosity`.',
  },
  { name: 'reasoning', shape: object.schema, support: 'supported', note: '`effort` and `summary`.' },
  STREAM,
  {
    name: 'stream_options',
    shape: object.schema,
    support: 'supported',
    note: 'Requires `stream: true`. Token counts are always in the last event.',
  },
  {
    name: 'previous_response_id',
    shape: string.schema,
    support: 'state',
    note: 'Cannot be used together with `conversation`.',
  },
  { name: 'conversation', shape: TEXT_OR_OBJECT, support: 'state', note: 'An id, or `{id}`.' },
  { name: 'prompt', shape: object.schema, support: 'state', note: '`{id, version, variables}`.' },
  { name: 'store', shape: boolean.schema, support: 'state', note: 'Boolean; the default is true.' },
  {
    name: 'truncation',
    shape: oneOf('auto', 'disabled').schema,
    support: 'state',
    note: '`auto` or `disabled`, the default.',
  },
  {
    name: 'include',
    shape: { type: 'array', items: { type: 'string' } },
    holds: ['logprobs'],
    support: 'state',
    note: 'Optional fields of the response.',
  },
  {
    name: 'max_tool_calls',
    shape: integer(1).schema,
    support: 'hint',
    note: 'Positive integer; counts hosted tools.',
  },
  { name: 'prompt_cache_key', shape: string.schema, support: 'hint', note: 'A string.' },
  { name: 'prompt_cache_retention', shape: string.schema, support: 'hint', note: 'A string, e.g. `24h`.' },
  {
    name: 'safety_identifier',
    shape: string.schema,
    support: 'supported',
    note: 'A string; sent as `metadata.user_id` to upstreams of Messages.',
  },
  ...gatewayFields('Accepted; token counts are always sent.'),
  {
    name: 'metadata',
    shape: { type: 'object', additionalProperties: { type: 'string' } },
    support: 'hint',
    note: 'Up to 16 pairs; stored in the record and returned in the response.',
  },
  {
    name: 'background',
    shape: boolean.schema,
    support: 'state',
    note: '`true`: [generated in the background](background.md).',
  },
  {
    name: 'service_tier',
    shape: string.schema,
    support: 'hint',
    note: 'A string. The cost is unknown for tiers without a listed price (`flex`, `priority`).',
  },
  {
    name: 'user',
    is: string,
    support: 'hint',
    note: 'A string; replaced by `safety_identifier` and `prompt_cache_key`.',
  },
];

export const TABLE = new FieldTable(REQUEST_FIELDS, {
  foreign: [
    { name: 'top_k', support: 'hint', note: 'Not negative.', to: 'topK', is: number(0) },
    { name: 'seed', support: 'hint', note: 'An integer.', to: 'seed', is: integer() },
  ],
});

/**
 * Names of the members that are decoded. All others are `extra`, including hints: both are sent unchanged to an
 * upstream that has them, and reported for others.
 */
export const DECODED_FIELDS = TABLE.named('supported', 'state', 'gateway');

/** Names of every documented member. */
export const KNOWN_FIELDS = TABLE.named('supported', 'state', 'hint', 'gateway');

/** Members that are never sent to an upstream. */
export const WITHHELD_FIELDS = TABLE.named('gateway');

/**
 * Names in the Responses API of members for which reports use the names of Chat Completions (API reference, "Create a
 * model response", 2026-11).
 */
export const CLIENT_NAMES: ClientNames = {
  ...TABLE.names,
  messages: ['input'],
  logprobs: ['include'],
  verbosity: ['text.verbosity'],
  response_format: ['text.format'],
  'response_format.json_schema': ['text.format'],
};
