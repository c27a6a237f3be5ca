// The members of a Responses request body and what the gateway does with each. The only list of them: decoding, the
// relay lane's stripping and the documentation are made from it. Must not know how any member is decoded.
import { namesOf } from '../request-fields.ts';
import type { RequestField } from '../request-fields.ts';

/**
 * `supported`: decoded and sent on. `state`: asks something of the gateway's own storage. `hint`: sent on to an
 * upstream of the same protocol, without meaning for others. `ignored`: type-checked, then dropped and reported.
 * `gateway`: steers the gateway and never reaches an upstream.
 */
type Support = 'supported' | 'state' | 'hint' | 'ignored' | 'gateway';

/**
 * Every documented member, in the order of the documentation (OpenAI API reference, "Create a model response", 2026-11;
 * the penalties are Open Responses', 2026-04).
 */
export const REQUEST_FIELDS: readonly RequestField<Support>[] = [
  { name: 'model', support: 'supported', note: 'Required. `<provider>/<name>`, a listed id or an alias.' },
  { name: 'input', support: 'supported', note: 'A string, or an array of items.' },
  { name: 'instructions', support: 'supported', note: 'A string or items; not inherited by later turns.' },
  {
    name: 'max_output_tokens',
    support: 'supported',
    note: 'Positive integer; visible and reasoning tokens.',
  },
  { name: 'temperature', support: 'supported', note: '0 to 2; clamped to what the model takes.' },
  { name: 'top_p', support: 'supported', note: '0 to 1.' },
  { name: 'presence_penalty', support: 'supported', note: '-2 to 2.' },
  { name: 'frequency_penalty', support: 'supported', note: '-2 to 2.' },
  {
    name: 'top_logprobs',
    support: 'supported',
    note: '0 to 20; needs `message.output_text.logprobs` in `include`.',
  },
  {
    name: 'tools',
    support: 'supported',
    note: 'Functions, custom tools, namespaces, and tools that the client or the upstream runs.',
  },
  {
    name: 'tool_choice',
    support: 'supported',
    note: '`none`, `auto`, `required`, one tool, or `allowed_tools`.',
  },
  { name: 'parallel_tool_calls', support: 'supported', note: 'Boolean; the default is true.' },
  {
    name: 'text',
    support: 'supported',
    note: '`format` (`text`, `json_object`, `json_schema`) and `verbosity`.',
  },
  { name: 'reasoning', support: 'supported', note: '`effort` and `summary`.' },
  { name: 'stream', support: 'supported', note: 'Only `true` streams.' },
  {
    name: 'stream_options',
    support: 'supported',
    note: 'Needs `stream: true`. Token counts are always in the last event.',
  },
  { name: 'previous_response_id', support: 'state', note: 'Not together with `conversation`.' },
  { name: 'conversation', support: 'state', note: 'An id, or `{id}`.' },
  { name: 'prompt', support: 'state', note: '`{id, version, variables}`.' },
  { name: 'store', support: 'state', note: 'Boolean; the default is true.' },
  { name: 'truncation', support: 'state', note: '`auto` or `disabled`, the default.' },
  { name: 'include', support: 'state', note: 'Members of the answer that appear only on demand.' },
  { name: 'max_tool_calls', support: 'hint', note: 'Positive integer; counts hosted tools.' },
  { name: 'prompt_cache_key', support: 'hint', note: 'A string.' },
  { name: 'prompt_cache_retention', support: 'hint', note: 'A string, e.g. `24h`.' },
  {
    name: 'safety_identifier',
    support: 'supported',
    note: 'A string; `metadata.user_id` of an upstream of Messages.',
  },
  { name: 'provider', support: 'gateway', note: 'Provider routing and fallback.' },
  { name: 'model_routing_config', support: 'gateway', note: 'Model routing.' },
  { name: 'models', support: 'gateway', note: 'Models to fall back to, in order.' },
  { name: 'usage', support: 'gateway', note: 'Accepted; token counts are always sent.' },
  { name: 'metadata', support: 'ignored', note: 'Up to 16 pairs; kept in the record and repeated.' },
  { name: 'background', support: 'ignored', note: '`true` runs at once; the answer says `false`.' },
  {
    name: 'service_tier',
    support: 'hint',
    note: 'A string. The cost is unknown where it asks for another price than the listed one (`flex`, `priority`).',
  },
  {
    name: 'user',
    support: 'hint',
    note: 'A string; `safety_identifier` and `prompt_cache_key` take its place.',
  },
];

/**
 * Names of the members that are decoded. All others are `extra`, hints among them: like a member that nobody
 * documents, a hint goes to an upstream of the same protocol as it is and is reported for any other.
 */
export const DECODED_FIELDS = namesOf(REQUEST_FIELDS, 'supported', 'state', 'gateway', 'ignored');

/** Names of every documented member. */
export const KNOWN_FIELDS = namesOf(REQUEST_FIELDS, 'supported', 'state', 'hint', 'gateway', 'ignored');

/** Members that are dropped and reported. */
export const IGNORED_FIELDS = namesOf(REQUEST_FIELDS, 'ignored');

/** Members that never reach an upstream. */
export const WITHHELD_FIELDS = namesOf(REQUEST_FIELDS, 'gateway', 'ignored');
