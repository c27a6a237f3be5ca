// Members of a Messages request body, and how the gateway handles each. Decoding and removal in the relay lane are
// derived from this list.
import { TEXTS, type ClientNames } from '../../canonical/index.ts';
import { FieldTable, type Field } from '../members/field-table.ts';
import { integer, number, object, strings } from '../members/read-member.ts';
import { gatewayFields, MODEL, STREAM } from '../members/shared-fields.ts';

/** `supported`: has a canonical form. `gateway`: a gateway option that is never sent to an upstream. */
type Support = 'supported' | 'gateway';

/**
 * Every member that the gateway interprets. All others (`service_tier`, `container`, `mcp_servers`,
 * `context_management`, a `cache_control` of the whole request, …) are sent unchanged to Anthropic upstreams, and
 * reported as dropped for others.
 */
export const REQUEST_FIELDS: readonly Field<Support>[] = [
  MODEL,
  {
    name: 'max_tokens',
    to: 'maxOutputTokens',
    is: integer(0),
    write: 'elsewhere',
    support: 'supported',
    note: 'Required. An integer of at least 0; includes thinking.',
  },
  {
    name: 'messages',
    shape: { type: 'array', items: { type: 'object' } },
    support: 'supported',
    note: 'Required. Roles `user`, `assistant`, `system`.',
  },
  {
    name: 'system',
    shape: { type: ['string', 'array', 'null'] },
    support: 'supported',
    note: 'A string or text blocks.',
  },
  {
    name: 'temperature',
    to: 'temperature',
    is: number(0),
    write: 'elsewhere',
    support: 'supported',
    note: TEXTS.clamped,
  },
  { name: 'top_p', to: 'topP', is: number(0, 1), write: 'elsewhere', support: 'supported', note: '0 to 1.' },
  {
    name: 'top_k',
    to: 'topK',
    is: integer(0),
    write: 'elsewhere',
    support: 'supported',
    note: 'An integer of at least 0.',
  },
  {
    name: 'stop_sequences',
    to: 'stop',
    is: strings(),
    write: 'elsewhere',
    support: 'supported',
    note: 'Strings.',
  },
  STREAM,
  {
    name: 'tools',
    shape: { type: 'array', items: { type: 'object' } },
    holds: ['webSearch'],
    support: 'supported',
    note: 'Custom tools. Tools that Anthropic runs are sent only to upstreams of this protocol.',
  },
  {
    name: 'tool_choice',
    shape: object.schema,
    holds: ['parallelToolCalls'],
    support: 'supported',
    note: '`auto`, `any`, `tool`, `none`.',
  },
  {
    name: 'thinking',
    shape: object.schema,
    support: 'supported',
    note: '`enabled` with `budget_tokens`, `adaptive`, `disabled`; resolved for each model.',
  },
  {
    name: 'output_config',
    shape: object.schema,
    support: 'supported',
    note: '`effort` and `format` (`json_schema`).',
  },
  { name: 'metadata', shape: object.schema, support: 'supported', note: '`user_id`; stored in the record.' },
  {
    name: 'thread',
    shape: object.schema,
    support: 'gateway',
    note: '`create`, or `continue` with `previous_message_id`: the gateway stores the conversation, for every upstream.',
  },
  ...gatewayFields('Accepted; responses of this protocol always contain token counts.'),
  {
    name: 'reasoning',
    shape: object.schema,
    support: 'gateway',
    note: 'Dropped; use `thinking` and `output_config` in this protocol.',
  },
];

export const TABLE = new FieldTable(REQUEST_FIELDS);

/** Names of every member that the gateway interprets. All others are `extra`. */
export const KNOWN_FIELDS = TABLE.named('supported', 'gateway');

/** Gateway options, which are never sent to any upstream. */
export const GATEWAY_KEYS = TABLE.named('gateway');

/**
 * Names in the Messages API of members for which reports use the names of Chat Completions (API reference, "Create a
 * Message", 2026-11).
 */
export const CLIENT_NAMES: ClientNames = {
  ...TABLE.names,
  safety_identifier: ['metadata.user_id'],
  parallel_tool_calls: ['tool_choice.disable_parallel_tool_use'],
  response_format: ['output_config.format'],
  'response_format.json_schema': ['output_config.format'],
  reasoning: ['thinking', 'output_config.effort'],
  'reasoning.effort': ['output_config.effort', 'thinking'],
  'reasoning.max_tokens': ['thinking.budget_tokens'],
  'reasoning.summary': ['thinking.display'],
  'reasoning.exclude': ['thinking.display'],
};
