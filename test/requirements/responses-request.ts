// Requirements on what a client may send to the Responses API: parameters, input items, tools, state. Numbers are those of
// the requirements list.
import {
  golden,
  R_CODEC,
  R_COMPACT,
  R_LIMITS,
  R_PORTABLE,
  R_REASONING,
  R_SDK,
  R_STATE,
  R_STORED,
  R_TOOLS,
  R_TURNS,
  ROUTE_KEYS,
  shown,
  T_APPROVALS,
  T_LOOP,
  T_MCP,
  T_SEARCH,
  T_SECRETS,
  type Requirement,
  type Requirements,
  CUSTOM_TOOLS,
  GRAMMARS,
} from './requirement.ts';

const REQUEST = 'Responses API documentation: request';
const ITEM = 'Responses API documentation: input items';
const TOOL = 'Responses API documentation: tools';
const CHOICE = 'Responses API documentation: tool_choice';
const STATE = 'Responses API documentation: state and limits';
const MISSING = 'Responses API documentation: unsupported parameters';

const EVERY_PARAMETER = golden('openai-responses/decode-request/every-parameter');
const EVERY_ITEM = golden('openai-responses/decode-request/every-item');
const UNSUPPORTED_MEMBERS = golden('openai-responses/decode-request/unsupported');
const SHARED_MEMBERS = 'test/scenarios/streams/shared-members.test.ts';
const BAD_TOOLS = golden('openai-responses/decode-request/bad-tools');
const ANY_NODE = `${R_CODEC}: any JSON in place of any node`;
const WRONG_TYPE = `${R_CODEC}: a wrong type of any member`;
const ROUND_TRIP = `${R_TOOLS}: %s: called, run by the client, and told to the model`;
const EARLIER_CALLS = `${R_PORTABLE}: earlier calls and outputs are calls and results`;
const HOSTED_AS_TEXT = 'test/socket/protocols/told-in-words.test.ts: of Anthropic is told to others';
const CHOSEN = `${R_PORTABLE}: a choice of one is a choice of its function`;

/** Items that need nothing but to be read, and to reach an upstream in a form that it knows. */
function items(
  entries: readonly (readonly [id: string, behaviour: string, ...tests: string[]])[],
): Requirements {
  return Object.fromEntries(
    entries.map(([id, behaviour, ...tests]): [string, Requirement] => [
      id,
      shown(ITEM, behaviour, EVERY_ITEM, ...tests),
    ]),
  );
}

export const responsesRequestRequirements: Requirements = {
  '12.1': shown(REQUEST, '`model` is required.', WRONG_TYPE, ANY_NODE),
  '12.2': shown(
    REQUEST,
    '`input` is a text or a list of items; a text is one user message.',
    golden('openai-responses/decode-request/nothing-said'),
    `${R_STATE}: a response is kept as it was sent`,
  ),
  '12.3': shown(
    REQUEST,
    '`instructions` are this turn’s alone: no later turn inherits them.',
    `${R_STATE}: begun over %s`,
    `${R_TURNS}: what was said before comes first`,
  ),
  '12.4': shown(
    REQUEST,
    '`previous_response_id` continues a chain; not with `conversation` (400), not unknown (404).',
    `${R_STATE}: begun over %s`,
    `${R_STATE}: names both a response and a conversation`,
    `${R_STATE}: is unknown, another key’s, or deleted`,
  ),
  '12.5': shown(
    REQUEST,
    '`conversation` is prepended; input and output are appended together, once the turn succeeded.',
    `${R_TURNS}: what was said before comes first`,
    `${R_TURNS}: an incomplete turn is appended too`,
    `${R_TURNS}: a failed turn leaves nothing`,
    `${R_TURNS}: of two turns at once one is refused`,
  ),
  '12.6': shown(
    REQUEST,
    '`prompt` names a template and fills in its variables.',
    `${R_LIMITS}: brings texts, images and defaults`,
    `${R_LIMITS}: what does not fit is a 400`,
  ),
  '12.7': shown(
    REQUEST,
    '`include` shows members that are otherwise absent.',
    `${R_STORED}: shows members on demand only`,
    golden('openai-responses/encode-response/nothing-included'),
  ),
  '12.8': shown(
    REQUEST,
    '`max_output_tokens` bounds text and reasoning together.',
    `${R_LIMITS}: max_output_tokens cuts the answer`,
  ),
  '12.9': shown(
    REQUEST,
    '`max_tool_calls` bounds the gateway’s own tools, and goes to upstreams that run tools.',
    EVERY_PARAMETER,
    `${T_SEARCH}: holds across turns and tools`,
  ),
  '12.10': shown(
    REQUEST,
    '`parallel_tool_calls` is true unless said otherwise.',
    EVERY_PARAMETER,
    `${R_LIMITS}: without parallel calls the second one never happened`,
  ),
  '12.11': shown(
    REQUEST,
    '`reasoning` has an effort and a summary.',
    EVERY_PARAMETER,
    `${R_SDK}: shows summaries and encrypted reasoning only`,
  ),
  '12.12': shown(REQUEST, '`text` has a format and a verbosity.', EVERY_PARAMETER),
  '12.13': shown(
    REQUEST,
    '`text.format` is flat; a strict schema is validated where the model cannot enforce it.',
    `${R_LIMITS}: reaches %s in its own form`,
    `${R_LIMITS}: is validated where the model has no such thing`,
  ),
  '12.14': shown(REQUEST, '`temperature` is 0 to 2.', EVERY_PARAMETER, WRONG_TYPE),
  '12.15': shown(REQUEST, '`top_p` is 0 to 1.', EVERY_PARAMETER, WRONG_TYPE),
  '12.16': shown(
    REQUEST,
    '`top_logprobs` asks for log probabilities.',
    `${R_LIMITS}: are asked for and shown with include`,
    `${R_LIMITS}: are refused by name over a protocol`,
  ),
  '12.17': shown(
    REQUEST,
    '`truncation: auto` drops the oldest until it fits; `disabled` is a 400.',
    `${R_LIMITS}: auto leaves out the oldest`,
    `${R_LIMITS}: disabled sends all of it`,
  ),
  '12.18': shown(REQUEST, '`tools` are offered to the model.', EVERY_PARAMETER, BAD_TOOLS),
  '12.19': shown(REQUEST, '`tool_choice` says which.', EVERY_PARAMETER, BAD_TOOLS),
  '12.20': shown(
    REQUEST,
    '`store` is true unless said otherwise.',
    `${R_STATE}: a response is kept as it was sent`,
    `${R_STATE}: without store nothing is left`,
  ),
  '12.21': shown(REQUEST, '`stream: true` streams.', `${R_SDK}: streams the same answer in a legal order`),
  '12.22': shown(
    REQUEST,
    '`stream_options` needs a stream; usage is in the last event anyway.',
    EVERY_PARAMETER,
    golden('openai-responses/decode-request/bad-everything'),
  ),
  '12.23': shown(REQUEST, '`prompt_cache_key` reaches an upstream of the protocol.', EVERY_PARAMETER),
  '12.24': shown(REQUEST, '`prompt_cache_retention` reaches an upstream of the protocol.', EVERY_PARAMETER),
  '12.25': shown(REQUEST, '`safety_identifier` reaches an upstream of the protocol.', EVERY_PARAMETER),
  '12.26': shown(
    REQUEST,
    '`provider` and `model_routing_config` are as on chat.',
    EVERY_PARAMETER,
    `${ROUTE_KEYS}: Responses, relayed: the same`,
  ),

  '13.1': shown(ITEM, 'A text part is a text.', EVERY_ITEM),
  '13.2': shown(ITEM, 'An image part has an address or a stored file, and a detail.', EVERY_ITEM),
  '13.3': shown(ITEM, 'A file part has data, an address, or a stored file.', EVERY_ITEM),
  ...items([
    [
      '13.4',
      'An input message has a text or parts, with and without its type.',
      `${R_STATE}: brings input and output items`,
    ],
    [
      '13.5',
      'An output message may be sent back.',
      `${R_SDK}: calls tools in parallel and takes the results back`,
    ],
    ['13.6', 'Annotations of a message that is sent back survive.'],
    ['13.7', 'Log probabilities in a message that is sent back are legal.'],
    ['13.8', 'A function call correlates by `call_id`.', `${R_STATE}: begun over %s`],
    ['13.9', 'Its output is a text or parts.', `${R_STATE}: begun over %s`],
    ['13.10', 'A custom call has an input.', ROUND_TRIP],
    ['13.11', 'Its output reaches every model.', ROUND_TRIP],
    ['13.12', 'A web search of an earlier turn is told.', HOSTED_AS_TEXT],
    ['13.13', 'A computer call is told as a call.', EARLIER_CALLS],
    ['13.14', 'Every action of it is read.', `${R_PORTABLE}: come back as their own items`],
    ['13.15', 'Its output is a screenshot.', EARLIER_CALLS],
    ['13.16', 'A local shell call is told as a call.', ROUND_TRIP],
    ['13.17', 'Its output has no `call_id` and finds its call.', ROUND_TRIP],
    ['13.18', 'A shell call is told as a call.', ROUND_TRIP],
    ['13.19', 'Its output tells what was printed and how it ended.', ROUND_TRIP],
    ['13.20', 'A patch call is told as a call.', ROUND_TRIP],
    ['13.21', 'Its output tells whether it was applied.', ROUND_TRIP],
    ['13.22', 'A list of MCP tools is accepted.'],
    ['13.23', 'A request for approval is accepted.'],
    ['13.24', 'An approval is accepted.'],
    ['13.25', 'An MCP call is told.', HOSTED_AS_TEXT],
    ['13.26', 'Reasoning comes back to its own family.', `${R_REASONING}: sent back by a client that asked`],
    ['13.27', 'A compaction can be fed back.', `${R_COMPACT}: keeps what the user said and seals a summary`],
    ['13.28', 'A reference stands for what is stored.', `${R_STATE}: brings input and output items`],
    [
      '13.29',
      'An item that nobody knows is a 400 that names it, or reaches an upstream that does.',
      `${R_TOOLS}: an item that no other protocol knows`,
    ],
  ]),

  '14.1': shown(
    TOOL,
    'A function is flat, and strict unless it says otherwise.',
    EVERY_PARAMETER,
    golden('openai-responses/encode-request/strict-default-of-responses-clients'),
  ),
  '14.2': shown(
    TOOL,
    'Web search: the upstream’s own, else the gateway’s, within the allowed domains.',
    EVERY_PARAMETER,
    `${T_SEARCH}: one search: its item, the answer, its citations`,
    `${T_SEARCH}: only the domains that are allowed are found and opened`,
    `${T_SEARCH}: of an upstream that searches itself stay as they are`,
  ),
  '14.3': shown(
    TOOL,
    'Web search, preview, is the same search.',
    EVERY_PARAMETER,
    `${T_SEARCH}: is the same under the name %s`,
  ),
  '14.4': shown(TOOL, 'Computer use becomes a function where it is unknown.', EARLIER_CALLS),
  '14.5': shown(TOOL, 'Patches become a function where they are unknown.', ROUND_TRIP),
  '14.6': shown(TOOL, 'The shell becomes a function where it is unknown.', ROUND_TRIP),
  '14.7': shown(TOOL, 'The local shell becomes a function where it is unknown.', ROUND_TRIP),
  '14.8': shown(
    TOOL,
    'MCP: the gateway calls the server, guarded; credentials reach nobody else.',
    EVERY_PARAMETER,
    `${T_MCP}: offers only what is allowed`,
    `${T_MCP}: a private address from a request is not connected to`,
    `${T_APPROVALS}: who allows calls by name is asked for the others`,
    `${T_SECRETS}: over %s, the server alone has them`,
  ),
  '14.9': shown(
    TOOL,
    'Custom tools become functions and come back; inputs are checked against their grammars, and mended once.',
    ROUND_TRIP,
    `${CUSTOM_TOOLS}: an input that does not match is mended by a second call; the rest stays`,
    `${CUSTOM_TOOLS}: a broken %s grammar is a 400 that names it`,
    `${GRAMMARS}: match what those of the runtime match`,
    `${GRAMMARS}: a hostile grammar ends`,
  ),
  '14.10': shown(TOOL, 'Tools that are not supported are dropped and reported.', UNSUPPORTED_MEMBERS),

  '15.1': shown(CHOICE, 'None, auto and required.', EVERY_PARAMETER, ANY_NODE),
  '15.2': shown(CHOICE, 'A choice among some of the tools.', EVERY_PARAMETER, CHOSEN),
  '15.3': shown(CHOICE, 'A choice of a hosted tool.', CHOSEN),
  '15.4': shown(
    CHOICE,
    'A choice of one function.',
    golden('openai-responses/encode-request/tool-choice-named'),
  ),
  '15.5': shown(
    CHOICE,
    'A choice of an MCP server or of one of its tools.',
    `${T_MCP}: a choice of one tool of the server`,
    `${T_MCP}: no choice of its tools is left over`,
  ),
  '15.6': shown(
    CHOICE,
    'A choice of a custom tool.',
    `${R_PORTABLE}: earlier calls get the same names, and so does a choice`,
  ),
  '15.7': shown(CHOICE, 'A choice of patches.', CHOSEN),
  '15.8': shown(CHOICE, 'A choice of the shell.', CHOSEN),

  '16.1': shown(
    STATE,
    'What is stored can be continued and read; without `store` nothing can.',
    `${R_STATE}: a response is kept as it was sent`,
    `${R_STATE}: without store nothing is left`,
    `${R_REASONING}: sent back by a client that asked for it`,
  ),
  '16.2': shown(
    STATE,
    'A chain is all its inputs and outputs in order, without earlier instructions.',
    `${R_STATE}: begun over %s`,
    `${R_STATE}: a chain branches`,
  ),
  '16.3': shown(
    STATE,
    'A chain goes on at another provider.',
    `${R_STATE}: begun over %s`,
    `${R_REASONING}: what %s sealed is not sent over %s`,
  ),
  '16.4': shown(
    STATE,
    'A conversation is echoed, shared, and passes from provider to provider.',
    `${R_TURNS}: what was said before comes first`,
    `${R_TURNS}: a conversation passes from provider to provider`,
  ),
  '16.5': shown(
    STATE,
    'References resolve within the key alone.',
    `${R_STATE}: brings input and output items`,
    `${R_STATE}: brings an item of a conversation back`,
  ),
  '16.6': shown(
    STATE,
    'A summary of ours is read by every model, one of an upstream’s by itself.',
    `${R_COMPACT}: keeps what the user said and seals a summary`,
    `${R_COMPACT}: an upstream that compacts by itself is let do it`,
  ),
  '16.7': shown(
    STATE,
    'Truncation drops from the oldest end, a call with its output.',
    `${R_LIMITS}: auto leaves out the oldest`,
    `${R_LIMITS}: auto drops the beginning of a chain`,
  ),
  '16.8': shown(
    STATE,
    'An answer that reached its limit is incomplete and says why.',
    `${R_LIMITS}: max_output_tokens cuts the answer`,
  ),
  '16.9': shown(
    STATE,
    'Calls of hosted tools are counted together, by whoever runs them; further ones are not made.',
    EVERY_PARAMETER,
    `${T_SEARCH}: holds across turns and tools`,
    `${T_LOOP}: tools of a server and a search in one answer`,
  ),
  '16.10': shown(
    STATE,
    'Without its value in `include` a member is absent.',
    `${R_REASONING}: the gate: nothing encrypted in an answer`,
    `${R_LIMITS}: are asked for and shown with include`,
    `${R_STORED}: hide the addresses of images unless asked`,
  ),
  '16.11': shown(
    STATE,
    'Without parallel calls there is one at most.',
    `${R_LIMITS}: without parallel calls the second one never happened`,
  ),
  '16.12': shown(
    STATE,
    'A question ends the answer; allowed, the call is made, refused, the model reads why.',
    `${T_APPROVALS}: the answer ends with the question`,
    `${T_APPROVALS}: refused, the call is not made and the model reads why`,
    `${T_APPROVALS}: an approval outlives a process that is killed without warning`,
  ),

  '17.1': shown(
    MISSING,
    'Three tools are dropped and reported; `service_tier`, `user` and `metadata` reach upstreams that have them.',
    UNSUPPORTED_MEMBERS,
    `${SHARED_MEMBERS}: every member arrives`,
    `${SHARED_MEMBERS}: to other protocols they are reported`,
    `${R_LIMITS}: in the background, the answer says so`,
  ),
  '17.2': shown(
    MISSING,
    'The answer carries their defaults.',
    golden('openai-responses/encode-response/everything'),
    golden('openai-responses/encode-response/empty'),
  ),
  '17.3': shown(MISSING, 'What belongs to those tools is ignored, not refused.', UNSUPPORTED_MEMBERS),
};
