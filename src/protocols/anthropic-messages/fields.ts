// The members of a Messages request body and what the gateway does with each. The only list of them: decoding and the
// relay lane's stripping are made from it. Must not know how any member is decoded.
import { namesOf } from '../request-fields.ts';
import type { RequestField } from '../request-fields.ts';

/** `supported`: has a canonical form. `gateway`: steers the gateway and never reaches an upstream. */
type Support = 'supported' | 'gateway';

/**
 * Every member with a meaning of its own. All others (`service_tier`, `container`, `mcp_servers`,
 * `context_management`, a `cache_control` of the whole request, …) pass to an Anthropic upstream as they stand, and are
 * reported as dropped for any other.
 */
export const REQUEST_FIELDS: readonly RequestField<Support>[] = [
  { name: 'model', support: 'supported', note: 'Required. `<provider>/<name>`, a listed id or an alias.' },
  {
    name: 'max_tokens',
    support: 'supported',
    note: 'Required. An integer of at least 0, thinking included.',
  },
  { name: 'messages', support: 'supported', note: 'Required. Roles `user`, `assistant`, `system`.' },
  { name: 'system', support: 'supported', note: 'A string or text blocks.' },
  { name: 'temperature', support: 'supported', note: 'Not negative; clamped to what the model takes.' },
  { name: 'top_p', support: 'supported', note: '0 to 1.' },
  { name: 'top_k', support: 'supported', note: 'An integer of at least 0.' },
  { name: 'stop_sequences', support: 'supported', note: 'Strings.' },
  { name: 'stream', support: 'supported', note: 'Only `true` streams.' },
  {
    name: 'tools',
    support: 'supported',
    note: "Custom tools; tools that Anthropic runs reach Anthropic's own protocol only.",
  },
  { name: 'tool_choice', support: 'supported', note: '`auto`, `any`, `tool`, `none`.' },
  {
    name: 'thinking',
    support: 'supported',
    note: '`enabled` with `budget_tokens`, `adaptive`, `disabled`; resolved for each model.',
  },
  { name: 'output_config', support: 'supported', note: '`effort` and `format` (`json_schema`).' },
  { name: 'metadata', support: 'supported', note: '`user_id`; kept in the record.' },
  { name: 'provider', support: 'gateway', note: 'Provider routing and fallback.' },
  { name: 'model_routing_config', support: 'gateway', note: 'Model routing.' },
  { name: 'models', support: 'gateway', note: 'Models to fall back to, in order.' },
  { name: 'usage', support: 'gateway', note: 'Accepted; answers of this protocol always hold token counts.' },
  {
    name: 'reasoning',
    support: 'gateway',
    note: 'Dropped: this protocol has `thinking` and `output_config`.',
  },
];

/** Names of every member with a meaning; all others are `extra`. */
export const KNOWN_FIELDS = namesOf(REQUEST_FIELDS, 'supported', 'gateway');

/** Members that must never reach an upstream. */
export const GATEWAY_KEYS = namesOf(REQUEST_FIELDS, 'gateway');
