// Requirements on what a client of the Responses API gets: the response, its items, its events, and what the seeds name
// without defining it. Numbers are those of the requirements list.
import {
  golden,
  later,
  PROTOCOLS,
  R_CODEC,
  R_COMPACT,
  R_FAILURES,
  R_LIMITS,
  R_PORTABLE,
  R_SDK,
  R_STATE,
  R_STORED,
  R_TOOLS,
  R_TURNS,
  shown,
  T_APPROVALS,
  T_CLIENTS,
  T_DELIVERY,
  T_MCP,
  T_SEARCH,
  UNSCHEDULED,
  type Requirement,
  type Requirements,
} from './requirement.ts';

const RESPONSE = 'Responses API documentation: response object';
const OUTPUT = 'Responses API documentation: output items';
const STREAM = 'Responses API documentation: streaming';
const CHECK = 'black-box check';
const NAMED = 'named by the documentation, not defined there';

const WHOLE = golden('openai-responses/encode-response/everything');
const EMPTY = golden('openai-responses/encode-response/empty');
const CUT = golden('openai-responses/encode-response/cut-by-the-limit');
const EVENTS = golden('openai-responses/encode-stream/everything');
const CUT_EVENTS = golden('openai-responses/encode-stream/cut-by-the-limit');
const FAILED_EVENTS = golden('openai-responses/encode-stream/failed');
const UNKNOWN_SURVIVES = golden('openai-responses/decode-stream/unknown-things-survive');
const ANY_ANSWER = `${R_CODEC}: any answer is a legal stream`;
const ANY_FAILURE = `${R_CODEC}: an answer that fails anywhere`;
const KEPT = `${R_STATE}: a response is kept as it was sent`;
const CLIENT_TOOLS = `${R_TOOLS}: %s: called, run by the client`;
const MCP_EVENTS = `${T_MCP}: the events of a list and a call`;
const RECORDED = 'test/recordings/responses-recordings.test.ts: %s: the same items, text, calls and counts';

/** Events that the encoder writes, by the number of each. */
const WRITTEN: Readonly<Record<string, string>> = {
  '5': 'created',
  '7': 'in_progress',
  '8': 'completed',
  '11': 'output_item.added',
  '12': 'output_item.done',
  '13': 'content_part.added',
  '14': 'content_part.done',
  '15': 'output_text.delta',
  '16': 'output_text.done',
  '17': 'output_text.annotation.added',
  '18': 'refusal.delta',
  '19': 'refusal.done',
  '20': 'function_call_arguments.delta',
  '21': 'function_call_arguments.done',
  '22': 'custom_tool_call_input.delta',
  '23': 'custom_tool_call_input.done',
  '24': 'web_search_call.in_progress',
  '25': 'web_search_call.searching',
  '26': 'web_search_call.completed',
  '27': 'reasoning_summary_part.added',
  '28': 'reasoning_summary_part.done',
  '29': 'reasoning_summary_text.delta',
  '30': 'reasoning_summary_text.done',
  '31': 'reasoning_text.delta',
  '32': 'reasoning_text.done',
};

/** Events of tools that nothing runs yet but an upstream of the protocol. */
const OF_MCP: Readonly<Record<string, string>> = {
  '33': 'mcp_call_arguments.delta',
  '34': 'mcp_call_arguments.done',
  '35': 'mcp_call.in_progress',
  '36': 'mcp_call.completed',
  '37': 'mcp_call.failed',
  '38': 'mcp_list_tools.in_progress',
  '39': 'mcp_list_tools.completed',
  '40': 'mcp_list_tools.failed',
};

function events(
  names: Readonly<Record<string, string>>,
  entry: (behaviour: string) => Requirement,
): Requirements {
  return Object.fromEntries(
    Object.entries(names).map(([number, name]) => [
      `20.${number}`,
      entry(`\`response.${name}\` has its members and its place.`),
    ]),
  );
}

export const responsesAnswerRequirements: Requirements = {
  '18.1': shown(RESPONSE, 'An id of the gateway’s, times, and its name for the model.', WHOLE, KEPT),
  '18.2': shown(
    RESPONSE,
    'The status says how it ended; nothing is queued.',
    WHOLE,
    CUT,
    `${R_FAILURES}: a failure after it is an error and response.failed`,
  ),
  '18.3': shown(RESPONSE, 'A failed response says why.', FAILED_EVENTS),
  '18.4': shown(
    RESPONSE,
    'An incomplete one says why.',
    CUT,
    `${R_LIMITS}: max_output_tokens cuts the answer`,
  ),
  '18.5': shown(RESPONSE, 'The output is a list of items.', WHOLE, RECORDED),
  '18.6': shown(RESPONSE, '`output_text` is left to the SDKs, which make it.', `${R_SDK}: answers`),
  '18.7': shown(RESPONSE, 'Everything that was asked is repeated.', WHOLE, KEPT),
  '18.8': shown(RESPONSE, 'What was not said is repeated as its default.', EMPTY),
  '18.9': shown(RESPONSE, 'Usage has totals and details that add up.', WHOLE, RECORDED),
  '18.10': shown(
    RESPONSE,
    'Members that nobody documents pass where the answer is relayed.',
    'test/unit/protocols/responses-relay.test.ts: whole answers keep every other byte',
  ),

  '19.1': shown(OUTPUT, 'Messages hold text or a refusal.', WHOLE, EVENTS),
  '19.2': shown(
    OUTPUT,
    'Reasoning holds summaries, texts and, on demand, its encrypted state.',
    WHOLE,
    EVENTS,
  ),
  '19.3': shown(OUTPUT, 'Function calls, also in parallel.', WHOLE, `${R_SDK}: calls tools in parallel`),
  '19.4': shown(
    OUTPUT,
    'Web searches, the upstream’s and the gateway’s, their sources on demand.',
    WHOLE,
    EVENTS,
    `${T_SEARCH}: sources and results are there only where`,
  ),
  '19.5': shown(
    OUTPUT,
    'Compactions, sealed under our own key.',
    `${R_COMPACT}: streams exactly one compaction`,
  ),
  '19.6': shown(OUTPUT, 'Local shell calls, from any model.', CLIENT_TOOLS),
  '19.7': shown(OUTPUT, 'Computer calls, from any model.', `${R_PORTABLE}: come back as their own items`),
  '19.8': shown(OUTPUT, 'Shell calls, from any model.', CLIENT_TOOLS),
  '19.9': shown(OUTPUT, 'Shell outputs of an upstream that runs them.', UNKNOWN_SURVIVES),
  '19.10': shown(OUTPUT, 'Patch calls, from any model.', CLIENT_TOOLS),
  '19.11': shown(OUTPUT, 'Patch outputs of an upstream that runs them.', UNKNOWN_SURVIVES),
  '19.12': shown(
    OUTPUT,
    'MCP calls, made by the gateway or by the upstream.',
    UNKNOWN_SURVIVES,
    `${T_MCP}: a list and a call`,
    `${T_MCP}: a tool that fails is told in its item and to the model`,
  ),
  '19.13': shown(
    OUTPUT,
    'Lists of MCP tools, once in a conversation.',
    UNKNOWN_SURVIVES,
    `${T_MCP}: is listed once in a conversation, however it goes on`,
    `${T_DELIVERY}: tools are listed once for many calls in one answer`,
  ),
  '19.14': shown(
    OUTPUT,
    'Requests for approval, by the gateway or by the upstream.',
    UNKNOWN_SURVIVES,
    `${T_APPROVALS}: the answer ends with the question`,
  ),
  '19.15': shown(OUTPUT, 'Custom calls, from any model.', WHOLE, CLIENT_TOOLS),
  '19.16': shown(
    OUTPUT,
    'Ids of items are unique within a response.',
    `${R_SDK}: calls tools in parallel`,
    `${R_TOOLS}: two of them at once keep their order and their ids`,
    ANY_ANSWER,
  ),

  '20.1': shown(STREAM, 'Each event has its name on its own line and in its data.', EVENTS),
  '20.2': shown(STREAM, 'Events are numbered from 0 without gaps.', EVENTS, ANY_ANSWER, ANY_FAILURE),
  '20.3': shown(STREAM, 'Deltas say which item and part they belong to.', EVENTS, ANY_ANSWER),
  '20.4': shown(STREAM, 'No `[DONE]`: the last event ends the stream.', `${R_SDK}: streams the same answer`),
  '20.6': shown(STREAM, '`response.queued` never comes: nothing waits.', ANY_ANSWER),
  '20.9': shown(STREAM, '`response.failed` has its members and its place.', FAILED_EVENTS, ANY_FAILURE),
  '20.10': shown(STREAM, '`response.incomplete` has its members and its place.', CUT_EVENTS),
  '20.41': shown(
    STREAM,
    '`error` has a code, a message and a parameter, and `response.failed` follows.',
    FAILED_EVENTS,
    'test/unit/protocols/responses-relay.test.ts: an error alone is followed by the response that failed through it',
  ),
  ...events(WRITTEN, (behaviour) => shown(STREAM, behaviour, EVENTS, ANY_ANSWER)),
  ...events(OF_MCP, (behaviour) => shown(STREAM, behaviour, UNKNOWN_SURVIVES, MCP_EVENTS)),
  '20.42': shown(
    STREAM,
    'Created, in progress, and one end.',
    ANY_ANSWER,
    ANY_FAILURE,
    `${R_SDK}: streams the same answer in a legal order`,
  ),
  '20.43': shown(
    STREAM,
    'Every beginning has its end, deltas add up, and the last event holds the finished items.',
    ANY_ANSWER,
    `${R_SDK}: streams the same answer in a legal order`,
  ),
  '20.44': shown(
    STREAM,
    'A failure after content is `error` and `response.failed`; before it, a status of its own.',
    `${R_FAILURES}: a failure after it is an error and response.failed`,
    `${R_FAILURES}: a failure before the first content is an answer of its own`,
  ),
  '20.45': shown(STREAM, 'The response repeats the request from its first event on.', EVENTS, ANY_ANSWER),

  '21.1': shown(
    NAMED,
    'A generation is found by the id of its response.',
    `${R_SDK}: finds the record of the answer by its id`,
  ),
  '21.2': shown(
    NAMED,
    'Files are stored and named by an id.',
    'test/socket/state/files.test.ts: are uploaded, found, read and deleted with the official SDK',
    'test/socket/state/files-in-requests.test.ts: from Responses',
  ),
  '21.3': shown(
    NAMED,
    'Conversations are compacted on any upstream.',
    `${R_COMPACT}: keeps what the user said and seals a summary`,
  ),
  '21.4': shown(
    NAMED,
    'Responses are read, replayed, listed and deleted; cancelling is a clear 400.',
    `${R_STORED}: is given back as it was`,
    `${R_STORED}: begins after any event`,
    `${R_STORED}: are those of all earlier turns`,
    `${R_STORED}: cannot be cancelled`,
  ),
  '21.5': shown(
    NAMED,
    'Conversations and their items are made, read, changed and deleted.',
    'test/socket/state/state-conversations.test.ts: is made, read, changed and deleted',
    `${R_TURNS}: what was said before comes first`,
  ),
  '21.6': shown(
    NAMED,
    'Templates have versions, variables and a default version.',
    'test/socket/state/state-prompts.test.ts: has versions, of which one is the default',
    `${R_LIMITS}: its versions, and the request’s own words`,
  ),
  '21.7': shown(
    NAMED,
    'Models are listed with limits and prices.',
    'test/unit/catalog/catalog-models-view.test.ts: a model shows its limits, modalities and capabilities',
  ),
  '21.8': later(NAMED, UNSCHEDULED, 'A console and its logs.'),
  '21.9': shown(
    NAMED,
    'A key may have its own routing.',
    'test/unit/app/config-routing.test.ts: nothing said is nothing wished: a key does not hide',
  ),
  '21.10': shown(
    NAMED,
    'Remote MCP servers that the gateway calls.',
    `${T_MCP}: a server of the operator is named by its label alone`,
    'test/clients/sdk/tool-sdk.test.ts: an interruption that outlives the program',
  ),
  '21.11': shown(
    NAMED,
    'A web search for models that have none.',
    `${T_SEARCH}: one search: its item, the answer, its citations`,
    `${T_CLIENTS}: a search: its call, its results, cited text`,
  ),
  '24.15': shown(
    CHECK,
    'Images, audio and files reach each upstream protocol that supports them.',
    golden('openai-responses/encode-request/media'),
    golden('openai-responses/decode-request/every-item'),
  ),
  '24.16': shown(
    CHECK,
    'Every input item is accepted, and forwarded or refused by name.',
    golden('openai-responses/decode-request/every-item'),
    `${R_TOOLS}: an item that no other protocol knows`,
  ),
  '24.17': shown(
    CHECK,
    'Streams obey the rules for every kind of answer and of failure.',
    ANY_ANSWER,
    ANY_FAILURE,
    `${R_FAILURES}: a failure after it is an error and response.failed`,
  ),
  '24.18': shown(
    CHECK,
    'A chain takes new instructions; both ids are a 400; a conversation grows.',
    `${R_STATE}: begun over %s`,
    `${R_STATE}: names both a response and a conversation`,
    `${R_TURNS}: what was said before comes first`,
  ),
  '24.19': shown(
    CHECK,
    'Truncation works both ways.',
    `${R_LIMITS}: auto leaves out the oldest`,
    `${R_LIMITS}: disabled sends all of it`,
  ),
  '24.23': shown(CHECK, 'References to items resolve.', `${R_STATE}: brings input and output items`),
  '24.24': shown(
    CHECK,
    'The cap on hosted calls, where the gateway runs them.',
    `${T_SEARCH}: of several calls in one turn only as many as are allowed run`,
  ),

  '21.12': later(NAMED, PROTOCOLS, 'The guides of the other protocols that clients speak.'),
};
