// The members of a Chat Completions request body and what the gateway does with each. The only list of them:
// decoding, the relay lane's stripping and `docs/chat-completions` are made from it. Must not know how any
// member is decoded.
import { namesOf } from '../request-fields.ts';
import type { RequestField as Field } from '../request-fields.ts';

/**
 * `supported`: decoded and sent on. `passed`: type-checked, and left to an upstream that knows it; reported where none
 * does. `ignored`: type-checked, then dropped and reported. `rejected`: any value but
 * null is a 400. `gateway`: steers the gateway and never reaches an upstream.
 */
export type RequestField = Field<'supported' | 'passed' | 'ignored' | 'rejected' | 'gateway'>;

/** Every documented member, in the order of the documentation. */
export const REQUEST_FIELDS: readonly RequestField[] = [
  { name: 'model', support: 'supported', note: 'Required. `<provider>/<name>`, a listed id or an alias.' },
  {
    name: 'messages',
    support: 'supported',
    note: 'Required. Roles `system`, `developer`, `user`, `assistant`, `tool`; the role `function` is a 400.',
  },
  {
    name: 'max_completion_tokens',
    support: 'supported',
    note: 'Positive integer; visible and reasoning tokens together.',
  },
  {
    name: 'max_tokens',
    support: 'supported',
    note: 'Deprecated. Taken as `max_completion_tokens` when that is absent, which is reported.',
  },
  { name: 'temperature', support: 'supported', note: 'Not negative; clamped to what the model takes.' },
  { name: 'top_p', support: 'supported', note: '0 to 1.' },
  { name: 'n', support: 'supported', note: 'Only 1.' },
  { name: 'frequency_penalty', support: 'supported', note: '-2 to 2.' },
  { name: 'presence_penalty', support: 'supported', note: '-2 to 2.' },
  { name: 'stop', support: 'supported', note: 'A string or up to 4 strings.' },
  { name: 'logit_bias', support: 'supported', note: 'Token ids to numbers from -100 to 100.' },
  { name: 'logprobs', support: 'supported', note: 'Boolean.' },
  { name: 'top_logprobs', support: 'supported', note: '0 to 20; needs `logprobs: true`.' },
  { name: 'tools', support: 'supported', note: 'Function and custom tools; names are unique.' },
  {
    name: 'tool_choice',
    support: 'supported',
    note: '`none`, `auto`, `required`, a named tool, or `allowed_tools` (flat or nested).',
  },
  { name: 'parallel_tool_calls', support: 'supported', note: 'Boolean.' },
  { name: 'response_format', support: 'supported', note: '`text`, `json_object` or `json_schema`.' },
  {
    name: 'reasoning_effort',
    support: 'supported',
    note: '`none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; `reasoning.effort` wins over it.',
  },
  { name: 'verbosity', support: 'supported', note: '`low`, `medium` or `high`.' },
  { name: 'web_search_options', support: 'supported', note: 'An empty object switches web search on.' },
  {
    name: 'metadata',
    support: 'supported',
    note: 'Up to 16 pairs; keys up to 64 characters, values are strings of up to 512. Kept in the record.',
  },
  { name: 'stream', support: 'supported', note: 'Only `true` streams.' },
  { name: 'stream_options', support: 'supported', note: '`include_usage`; needs `stream: true`.' },
  {
    name: 'seed',
    support: 'supported',
    note: 'Sent where the upstream takes it, else ignored and reported.',
  },
  {
    name: 'reasoning',
    support: 'gateway',
    note: '`enabled`, `effort`, `max_tokens`, `exclude`, `summary`; resolved for each model.',
  },
  {
    name: 'include_reasoning',
    support: 'gateway',
    note: '`false` is `reasoning.exclude: true`; a contradiction between the two is a 400.',
  },
  { name: 'usage', support: 'gateway', note: '`include: true` sends token counts also in a stream.' },
  { name: 'provider', support: 'gateway', note: 'Provider routing and fallback.' },
  { name: 'model_routing_config', support: 'gateway', note: 'Model routing.' },
  { name: 'models', support: 'gateway', note: 'Models to fall back to, in order.' },
  {
    name: 'user',
    support: 'passed',
    note: 'A string. In other protocols `safety_identifier`, `metadata.user_id`.',
  },
  {
    name: 'safety_identifier',
    support: 'passed',
    note: 'A string; counts before `user` where an upstream has one place for both.',
  },
  { name: 'prompt_cache_key', support: 'passed', note: 'A string.' },
  { name: 'prompt_cache_retention', support: 'passed', note: 'A string.' },
  { name: 'prediction', support: 'passed', note: 'An object.' },
  { name: 'modalities', support: 'passed', note: 'Anything besides `text` is a 400.' },
  {
    name: 'service_tier',
    support: 'passed',
    note: 'A string. The cost is unknown where it asks for another price than the listed one (`flex`, `priority`).',
  },
  { name: 'store', support: 'ignored', note: 'Boolean. No upstream is asked to keep what was said.' },
  { name: 'audio', support: 'rejected', note: 'Audio answers are not available.' },
  { name: 'functions', support: 'rejected', note: 'Deprecated and not accepted; use `tools`.' },
  { name: 'function_call', support: 'rejected', note: 'Deprecated and not accepted; use `tool_choice`.' },
];

/** Names of every documented member; all others are `extra`. */
export const KNOWN_FIELDS = namesOf(REQUEST_FIELDS, 'supported', 'passed', 'ignored', 'rejected', 'gateway');

/** Members that the gateway does not act on. */
export const PASSED_FIELDS = namesOf(REQUEST_FIELDS, 'passed');

/** The members that say for whom the client asks. */
export const END_USER: ReadonlySet<string> = new Set(['safety_identifier', 'user']);

/** Members that have a place of their own in the canonical request, or that nobody is to see. */
export const HELD_FIELDS: ReadonlySet<string> = new Set([
  ...namesOf(REQUEST_FIELDS, 'supported', 'ignored', 'rejected', 'gateway'),
  ...END_USER,
]);

/** Members that never reach an upstream of this protocol. */
export const WITHHELD_FIELDS = namesOf(REQUEST_FIELDS, 'gateway', 'ignored', 'rejected');

/** Members that are dropped and reported. */
export const IGNORED_FIELDS = namesOf(REQUEST_FIELDS, 'ignored');

/** Members that must never reach an upstream. */
export const GATEWAY_KEYS = namesOf(REQUEST_FIELDS, 'gateway');

/**
 * The members that the API documents as unsupported, in its order: no client may rely on the gateway to act on them.
 */
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
