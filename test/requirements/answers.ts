// Requirements on what a client gets from Chat Completions: reasoning, whole answers, streams, usage. Numbers are those
// of the requirements list.
import {
  BROKEN,
  CONTINUITY,
  FIELDS,
  golden,
  POLICY,
  RECORDED,
  RELAYED,
  SDK,
  shown,
  WIRE,
  type Requirements,
} from './requirement.ts';

const REASONING = 'Chat Completions API documentation and reasoning guide: reasoning';
const ANSWER = 'Chat Completions API documentation: response';
const STREAM = 'Chat Completions API documentation and streaming guide: chunks';
const USAGE = 'Chat Completions API documentation: usage';
const CHECK = 'black-box check';

const SECOND_TURN = `${CONTINUITY}: reasoning %s`;
const OUT = golden('openai-chat/encode-response/reasoning-and-tools');
const OUT_STREAM = golden('openai-chat/encode-stream/reasoning-and-tools');

export const answerRequirements: Requirements = {
  '6.1': shown(
    REASONING,
    'Without `reasoning` a default applies.',
    `${POLICY}: nothing asked: medium where the model can reason`,
  ),
  '6.2': shown(
    REASONING,
    '`enabled: false` switches reasoning off.',
    `${POLICY}: off beats effort and budget`,
    `${SDK}: reasoning: effort, exclude, off`,
  ),
  '6.3': shown(
    REASONING,
    '`effort` takes the same words as `reasoning_effort`.',
    `${FIELDS}: inside the other objects`,
    `${SDK}: reasoning: effort, exclude, off`,
  ),
  '6.4': shown(
    REASONING,
    '`max_tokens` caps reasoning, not the answer.',
    `${POLICY}: budgets stay inside the legal interval`,
    golden('anthropic-messages/encode-request/thinking-both-with-budget'),
  ),
  '6.5': shown(
    REASONING,
    '`exclude: true` hides reasoning; `include_reasoning: false` is the same.',
    golden('openai-chat/encode-response/excluded-reasoning'),
    golden('openai-chat/encode-stream/excluded-reasoning'),
  ),
  '6.6': shown(
    REASONING,
    'Effort and budget may come together; the model decides which one counts.',
    golden('anthropic-messages/encode-request/thinking-both-with-budget'),
    golden('openai-responses/encode-request/reasoning-summary-and-budget'),
  ),
  '6.7': shown(
    REASONING,
    'Nothing given is medium.',
    `${POLICY}: nothing asked: medium where the model can reason`,
  ),
  '6.8': shown(
    REASONING,
    'Low, medium and high are 20, 50 and 80 % of the output limit.',
    `${POLICY}: worked values of requirement 6.10`,
  ),
  '6.9': shown(
    REASONING,
    'A budget is the nearest of the three efforts for a model that takes efforts.',
    `${POLICY}: worked values of requirement 6.10`,
  ),
  '6.10': shown(
    REASONING,
    'The worked values hold, ties going down.',
    `${POLICY}: worked values of requirement 6.10`,
  ),
  '6.11': shown(
    REASONING,
    'Off, minimal and xhigh have values; an illegal budget is clamped, or thinking goes off.',
    `${POLICY}: budgets stay inside the legal interval`,
    golden('anthropic-messages/encode-request/thinking-no-legal-budget'),
    golden('anthropic-messages/encode-request/thinking-unknown-limit'),
  ),
  '6.12': shown(
    REASONING,
    'The default never breaks a call that is legal without it.',
    `${POLICY}: a default is never injected where it would break the call`,
    golden('anthropic-messages/encode-request/thinking-forced-tool'),
    golden('anthropic-messages/encode-request/thinking-prefill'),
  ),
  '6.13': shown(
    REASONING,
    '`usage.include` is read at the top and below `reasoning`.',
    `${FIELDS}: inside the other objects`,
  ),
  '6.14': shown(
    REASONING,
    'A tool turn with reasoning goes on after its results.',
    SECOND_TURN,
    `${CONTINUITY}: three rounds of one tool turn`,
  ),
  '6.15': shown(
    REASONING,
    'Details become the upstream’s own blocks and items again, before the calls.',
    SECOND_TURN,
    `${CONTINUITY}: encrypted reasoning %s`,
    golden('openai-responses/encode-request/reasoning-history'),
  ),
  '6.16': shown(REASONING, 'The text alone need not come back; the signature matters.', SECOND_TURN),
  '6.17': shown(
    REASONING,
    'Reasoning signed for one family is not sent to another, and that is reported.',
    `${CONTINUITY}: reasoning signed by one family`,
    golden('anthropic-messages/encode-request/foreign-reasoning-dropped'),
  ),
  '6.18': shown(
    REASONING,
    'What the client lost or never saw is put back from the vault.',
    `${CONTINUITY}: hidden from the client`,
    'test/unit/accounts/vault.test.ts: reasoning that the client lost comes back whole',
  ),
  '6.19': shown(
    REASONING,
    'Without reasoning the member is absent.',
    `${SDK}: reasoning: effort, exclude, off`,
  ),

  '9.1': shown(ANSWER, 'One JSON body, a `chat.completion`.', `${SDK}: answers`),
  '9.2': shown(
    ANSWER,
    'The id is the gateway’s own and finds the generation.',
    `${SDK}: answers`,
    'test/unit/accounts/ledger-view.test.ts: both spellings and the whole record',
  ),
  '9.3': shown(ANSWER, 'The object is named.', `${SDK}: answers`),
  '9.4': shown(ANSWER, '`created` is in seconds.', golden('openai-chat/encode-response/text-with-all-usage')),
  '9.5': shown(ANSWER, '`model` is the gateway’s name.', `${SDK}: answers`),
  '9.6': shown(ANSWER, '`service_tier` passes.', golden('openai-chat/encode-response/text-with-all-usage')),
  '9.7': shown(
    ANSWER,
    '`system_fingerprint` passes.',
    golden('openai-chat/encode-response/text-with-all-usage'),
  ),
  '9.8': shown(
    ANSWER,
    'There is one choice.',
    `${SDK}: answers`,
    golden('openai-chat/decode-response/only-choice-numbered-one'),
  ),
  '9.9': shown(ANSWER, 'Its index is 0.', `${SDK}: answers`),
  '9.10': shown(
    ANSWER,
    'Finish reasons are the documented words, whatever the upstream says.',
    golden('anthropic-messages/decode-response/unknown-stop-reason'),
    golden('openai-chat/decode-stream/undocumented-finish-word'),
    `${RECORDED}: say what was recorded`,
  ),
  '9.11': shown(
    ANSWER,
    '`logprobs` are null unless asked for and served.',
    `${SDK}: logprobs where they are served`,
  ),
  '9.12': shown(
    ANSWER,
    'Log probabilities have tokens, bytes and alternatives.',
    golden('openai-chat/encode-response/logprobs'),
  ),
  '9.13': shown(
    ANSWER,
    'The message has role, content and refusal.',
    `${SDK}: a refusal is a refusal`,
    golden('openai-chat/encode-response/refusal'),
  ),
  '9.14': shown(ANSWER, '`reasoning` is text.', OUT),
  '9.15': shown(
    ANSWER,
    '`reasoning_details` is a list of typed elements with numeric index.',
    OUT,
    golden('openai-responses/decode-response/everything'),
  ),
  '9.16': shown(ANSWER, '`reasoning_content` mirrors it.', OUT),
  '9.17': shown(
    ANSWER,
    'Citations are `annotations`, an empty list without any.',
    golden('openai-chat/encode-response/citations-over-parts'),
    golden('openai-chat/encode-response/text-with-all-usage'),
  ),
  '9.18': shown(
    ANSWER,
    'Audio passes if an upstream returns it.',
    golden('openai-chat/encode-response/extra-members'),
  ),
  '9.19': shown(
    ANSWER,
    'An old `function_call` becomes a tool call.',
    golden('openai-chat/decode-response/legacy-function-call'),
  ),
  '9.20': shown(ANSWER, 'Tool calls have ids, types and arguments as text.', `${SDK}: calls one tool`, OUT),
  '9.21': shown(ANSWER, 'The documented set of members is there.', OUT, `${RECORDED}: say what was recorded`),

  '10.1': shown(
    STREAM,
    'Every event is one chunk; concatenated they are the answer.',
    'test/unit/protocols/chat-answer-codec.test.ts: says the same as encodeResponse',
    `${SDK}: streams the same text`,
  ),
  '10.2': shown(
    STREAM,
    'A stream ends with `[DONE]`, and only a complete one does.',
    `${BROKEN}: without an end mark`,
    'test/socket/protocols/fuzz-streams.test.ts: a cut stream never ends normally',
  ),
  '10.3': shown(STREAM, 'Id, time and model are the same in all chunks.', OUT_STREAM),
  '10.4': shown(
    STREAM,
    'No chunk has empty choices unless usage was asked for.',
    golden('openai-chat/encode-stream/usage-not-asked-for'),
    `${RELAYED}: lose only the token counts`,
  ),
  '10.5': shown(STREAM, 'The role comes first.', OUT_STREAM),
  '10.6': shown(STREAM, 'Content comes in fragments.', `${SDK}: streams the same text`),
  '10.7': shown(STREAM, 'A refusal comes in fragments.', golden('openai-chat/encode-stream/refusal')),
  '10.8': shown(
    STREAM,
    'Reasoning comes in fragments.',
    `${SDK}: reasoning is streamed as it is answered whole`,
  ),
  '10.9': shown(
    STREAM,
    '`reasoning_content` mirrors them; the switch leaves it out.',
    OUT_STREAM,
    golden('openai-chat/encode-stream/no-mirror-signature-only'),
  ),
  '10.10': shown(
    STREAM,
    '`reasoning_details` are streamed, signatures included.',
    OUT_STREAM,
    `${SDK}: reasoning is streamed as it is answered whole`,
  ),
  '10.11': shown(
    STREAM,
    'Call fragments have the gateway’s own dense indices.',
    golden('openai-chat/encode-stream/parallel-calls-interleaved'),
    `${SDK}: streams parallel calls that the SDK puts together`,
  ),
  '10.12': shown(
    STREAM,
    'Old `function_call` deltas are understood.',
    golden('openai-chat/decode-stream/legacy-function-call'),
  ),
  '10.13': shown(
    STREAM,
    'The finish reason is null until the last fragment.',
    OUT_STREAM,
    'test/socket/protocols/fuzz-streams.test.ts: where the stream is split makes no difference',
  ),
  '10.14': shown(
    STREAM,
    'Index and log probabilities as in a whole answer.',
    golden('openai-chat/encode-stream/logprobs'),
  ),
  '10.15': shown(
    STREAM,
    'Usage comes in one last chunk when asked for.',
    golden('openai-chat/encode-stream/text-with-all-usage'),
    `${SDK}: streams the same text, with usage only when asked`,
  ),
  '10.16': shown(
    STREAM,
    'An upstream that does not stream is streamed all the same.',
    `${BROKEN}: a whole answer to a streamed request is streamed`,
  ),
  '10.17': shown(
    STREAM,
    'Nothing is buffered, and characters survive any split.',
    `${RECORDED}: are the same when the stream comes byte by byte`,
    `${WIRE}: a stream: %s`,
  ),

  '11.1': shown(
    USAGE,
    'Three totals that add up.',
    'test/unit/protocols/openai-chat/decode-usage.test.ts: parts add up',
    golden('openai-chat/encode-response/text-with-all-usage'),
  ),
  '11.2': shown(
    USAGE,
    'Reasoning, audio and prediction tokens are told apart.',
    golden('openai-chat/encode-response/text-with-all-usage'),
  ),
  '11.3': shown(
    USAGE,
    'So are cached and audio tokens of the prompt.',
    golden('openai-chat/encode-response/text-with-all-usage'),
  ),
  '11.4': shown(
    USAGE,
    'Cached tokens are part of the prompt, also from Anthropic.',
    golden('anthropic-messages/decode-response/thinking-text-tools'),
    golden('openai-chat/decode-response/cache-outside-of-the-prompt'),
  ),
  '11.5': shown(
    USAGE,
    'The documented minimal shape is included.',
    golden('openai-chat/encode-response/text-with-all-usage'),
  ),

  '24.2': shown(
    CHECK,
    'A stream keeps its id, has no empty choices and ends with `[DONE]`.',
    `${SDK}: streams the same text`,
    'test/socket/server/fuzz-requests.test.ts: mutated requests get a valid answer or a valid error',
  ),
  '24.3': shown(
    CHECK,
    'Usage adds exactly one chunk.',
    `${SDK}: streams the same text, with usage only when asked`,
  ),
  '24.4': shown(CHECK, 'Thinking and signature reach Messages before the call.', SECOND_TURN),
  '24.5': shown(CHECK, 'The same when turn one was streamed.', `${CONTINUITY}: Messages, turn one streamed`),
  '24.6': shown(
    CHECK,
    'Encrypted reasoning is returned and sent again as an item.',
    `${CONTINUITY}: encrypted reasoning %s`,
  ),
  '24.7': shown(CHECK, 'The worked values, both ways.', `${POLICY}: worked values of requirement 6.10`),
  '24.8': shown(
    CHECK,
    '`exclude` hides all three members in both modes.',
    golden('openai-chat/encode-response/excluded-reasoning'),
    golden('openai-chat/encode-stream/excluded-reasoning'),
  ),
  '24.21': shown(
    CHECK,
    'Parallel calls have distinct ids and indices in all modes.',
    `${SDK}: streams parallel calls that the SDK puts together`,
    golden('openai-chat/decode-stream/calls-all-numbered-zero'),
    golden('openai-chat/decode-response/calls-numbered-alike'),
  ),
  'contract.read-pages': shown(
    'API references of Gemini and of the Responses API, 2026-11',
    'Pages that a model read are `open_page` for clients of Responses and `urlContextMetadata` for those of Gemini; else they are reported.',
    'test/socket/protocols/answer-losses.test.ts: are opened pages of an answer of Responses',
    'test/socket/protocols/answer-losses.test.ts: are the context of an answer of Gemini',
    'test/socket/protocols/answer-losses.test.ts: have ids of their own for a client of Messages, whose last block is the answer',
  ),
  'contract.tool-members': shown(
    'API references of Responses and Messages, 2026-11',
    'Members of tools that another protocol has no place for, such as `allowed_callers`, are in the report.',
    'test/socket/protocols/tool-member-losses.test.ts: of a client of Responses, at an upstream of %s',
    'test/socket/protocols/tool-member-losses.test.ts: of a client of Messages, at an upstream of %s',
  ),
};
