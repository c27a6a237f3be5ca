// What users of other gateways reported in public, and what this one does instead: groups A to D of the list. Each
// source is an issue that describes the pain.
import {
  BROKEN,
  CONTINUITY,
  FAILOVER,
  FORMATS,
  golden,
  IDEMPOTENCY,
  LAUNCHER,
  later,
  POLICY,
  PRICE,
  PROTOCOLS,
  RESPONSES,
  ROUTING,
  SDK,
  shown,
  type Requirements,
} from './requirement.ts';

const TOOL_DELTAS = golden('openai-chat/encode-stream/parallel-calls-interleaved');
const FINISH = 'test/chat-answer-codec.test.ts: writes nothing before content and ends once';

export const painRequirements: Requirements = {
  'pain.A1': shown(
    'BerriAI/litellm #5231',
    'Call indices are the gateway’s own, dense from 0.',
    TOOL_DELTAS,
    golden('openai-chat/decode-stream/calls-all-numbered-zero'),
  ),
  'pain.A2': shown(
    'BerriAI/litellm #21041',
    'The finish reason follows from what was emitted.',
    golden('openai-chat/encode-stream/reasoning-and-tools'),
    FINISH,
  ),
  'pain.A3': shown(
    'maximhq/bifrost #3638',
    'A text and then a call end as `tool_calls`, in both modes and over each protocol.',
    golden('anthropic-messages/decode-stream/thinking-text-tools'),
    `${SDK}: calls one tool`,
  ),
  'pain.A4': later(
    'Oaklight/llm-rosetta #56',
    RESPONSES,
    'Responses events cannot be emitted in an illegal order.',
  ),
  'pain.A5': later(
    'tashfeenahmed/freellmapi #842',
    RESPONSES,
    'Output indices are dense; colliding ones are read.',
    golden('openai-responses/decode-stream/output-index-used-twice'),
  ),
  'pain.A6': later(
    'mnfst/llm-gateway #1816',
    ROUTING,
    'A billed but empty answer is an error.',
    golden('openai-chat/decode-stream/nothing-but-done'),
    golden('anthropic-messages/decode-stream/empty-answer'),
  ),
  'pain.A7': later(
    'router-for-me/CLIProxyAPI #5753',
    RESPONSES,
    'Custom tools become functions and return as custom calls.',
    golden('openai-chat/encode-request/custom-tools-as-functions'),
  ),
  'pain.A8': later('openai/codex #32318', RESPONSES, 'Groups of tools are flattened and restored.'),
  'pain.A9': shown(
    'experientiallabs/experiential #792',
    'An unknown hosted item never ends a stream.',
    golden('openai-responses/decode-stream/unknown-things-survive'),
    golden('anthropic-messages/decode-stream/mcp-compaction-unknown'),
  ),
  'pain.A10': later('qxcnm/Codex-Manager #91', RESPONSES, 'Responses over WebSocket.'),
  'pain.A11': shown(
    'BerriAI/litellm #37088',
    'The upstream’s protocol is data, never guessed from a name.',
    'test/catalog.test.ts: what the built-in provider declares',
  ),
  'pain.A12': shown(
    'BerriAI/litellm #36768',
    'A failed or incomplete response is what it says, and retried before content.',
    golden('openai-responses/decode-stream/failed'),
    golden('openai-responses/decode-stream/incomplete-by-length'),
    `${FAILOVER}: %s: the next endpoint answers`,
  ),
  'pain.A13': shown(
    'envoyproxy/ai-gateway #1936',
    'What cannot work is refused when the configuration is read.',
    'test/config.test.ts: a snapshot refuses',
  ),
  'pain.A14': shown(
    'BerriAI/litellm #39852',
    'Several system messages are merged where an upstream wants one.',
    golden('openai-chat/encode-request/adjacent-roles-merged'),
    golden('anthropic-messages/encode-request/system-mid-conversation'),
  ),
  'pain.A15': later(
    'maximhq/bifrost #5773',
    RESPONSES,
    'Responses-shaped bodies on the chat path are understood.',
  ),
  'pain.A16': shown(
    'maximhq/bifrost #3596',
    'Members stay consistent after translation: no dangling choice, no illegal budget.',
    golden('anthropic-messages/encode-request/tool-choice-nothing-left'),
    golden('openai-responses/encode-request/tool-choice-without-tools'),
    `${POLICY}: budgets stay inside the legal interval`,
  ),
  'pain.A17': later('BerriAI/litellm #24176', PROTOCOLS, 'Messages clients get complete usage.'),

  'pain.B18': shown(
    'BerriAI/litellm #41361',
    'Blocks with nothing but a signature are kept.',
    golden('anthropic-messages/decode-stream/redacted-and-signature-only'),
    `${CONTINUITY}: redacted thinking`,
  ),
  'pain.B19': shown(
    'langgenius/dify #41092',
    'Order and borders of thinking are kept, and put back when lost.',
    `${CONTINUITY}: three rounds of one tool turn`,
    'test/vault.test.ts: interleaved thinking goes back between the texts',
  ),
  'pain.B20': later(
    'BerriAI/litellm #16893',
    PROTOCOLS,
    'Signatures of Gemini are kept like all others.',
    golden('openai-chat/decode-response/signature-beside-a-call-alone'),
  ),
  'pain.B21': shown(
    'musistudio/claude-code-router #1378',
    '`reasoning_content` comes back to those who want it, also when the client lost it.',
    `${CONTINUITY}: simulated models`,
    golden('openai-chat/encode-request/reasoning-back-as-content'),
  ),
  'pain.B22': shown(
    'musistudio/claude-code-router #1229',
    'Models whose reasoning cannot be switched off are known as such.',
    `${POLICY}: off beats effort and budget`,
  ),
  'pain.B23': later(
    'ZhiYi-R/moon-bridge #28',
    RESPONSES,
    'Items open when something comes; no reasoning when it is off.',
    golden('openai-responses/encode-request/reasoning-off'),
  ),
  'pain.B24': later('BerriAI/litellm #13420', RESPONSES, 'Reasoning items are accepted as input.'),
  'pain.B25': shown(
    'BerriAI/litellm #8901',
    'A schema uses the native form, else instruction, validation and repair; never a forced tool.',
    `${FORMATS}: native forms`,
    `${FORMATS}: emulation`,
  ),
  'pain.B26': shown(
    'can1357/oh-my-pi #4431',
    'Foreign reasoning is dropped and reported, never turned into text.',
    `${CONTINUITY}: reasoning signed by one family`,
    golden('anthropic-messages/encode-request/foreign-reasoning-dropped'),
  ),

  'pain.C27': later(
    'vercel/ai #17326',
    PROTOCOLS,
    'Usage at the start of a Messages stream is an estimate, later corrected.',
  ),
  'pain.C28': later('BerriAI/litellm #37102', PROTOCOLS, 'Tokens are counted per model, estimates marked.'),
  'pain.C29': shown(
    'BerriAI/litellm #5443',
    'Every token is counted once: one vector, conserved.',
    `${PRICE}: every class is charged once`,
    `${PRICE}: conservation: items add up`,
    'src/protocols/openai-chat/decode-usage.test.ts: parts add up',
  ),
  'pain.C30': shown(
    'QuantumNous/new-api #7241',
    'Cut answers are billed by what came, per attempt.',
    `${BROKEN}: %s lane`,
    `${PRICE}: the sum of attempts`,
  ),
  'pain.C31': shown(
    'QuantumNous/new-api #4168',
    'No bytes from the upstream, no charge.',
    `${PRICE}: the sum of attempts: uncharged ones count nothing`,
  ),
  'pain.C32': shown(
    'BerriAI/litellm #14457',
    'Tokens streamed before the client left are recorded.',
    `${BROKEN}: a client that leaves stops the upstream`,
  ),
  'pain.C33': shown(
    'LiteLLM incident reports',
    'Unknown prices are null; a bad change of the configuration is refused whole.',
    `${PRICE}: unknown is null and never zero`,
    'test/config.test.ts: an invalid change is refused',
  ),

  'pain.D34': shown(
    'Portkey-AI/gateway #1797',
    'A cut answer is an error in the stream, never a normal end.',
    'test/fuzz-streams.test.ts: a cut stream never ends normally',
    `${BROKEN}: %s lane`,
  ),
  'pain.D35': shown(
    'BerriAI/litellm #40404',
    'Stalls, cuts and malformed events reach failover before content, and the client after it.',
    `${FAILOVER}: %s: the next endpoint answers`,
    `${BROKEN}: a stall ends after the idle time`,
    'test/fuzz-streams.test.ts: translate lane, damaged',
  ),
  'pain.D36': shown(
    'BerriAI/litellm #38610',
    'One attempt engine for both modes; failed attempts leave no trace.',
    `${FAILOVER}: streamed: %p`,
  ),
  'pain.D37': later(
    'maximhq/bifrost #3261',
    ROUTING,
    'Kinds of failure map to actions in one table; 401, 402 and 403 of upstreams fail over.',
    `${FAILOVER}: %s: the next endpoint answers`,
    `${FAILOVER}: an empty account is not asked again`,
  ),
  'pain.D38': shown(
    'OpenRouterTeam/ai-sdk-provider #440',
    'No hidden idle limits; comments keep slow streams alive.',
    `${BROKEN}: silence is filled with comments`,
  ),
  'pain.D39': shown(
    'BerriAI/litellm #13774',
    'A client that leaves stops its upstream.',
    `${BROKEN}: a client that leaves stops the upstream`,
    'test/sdk/openai-errors.test.ts: a stream that the client aborts stops the upstream',
  ),
  'pain.D40': shown(
    'Comfy-Org/ComfyUI #16204',
    'A request repeated under its idempotency key is not generated and paid twice.',
    `${IDEMPOTENCY}: the same answer again`,
    `${IDEMPOTENCY}: readers of an answer that is not streamed wait for the one call`,
  ),
  'pain.D41': shown(
    'langwatch/langwatch #6941',
    'A deployment lets streams finish.',
    `${LAUNCHER}: SIGTERM lets a running stream finish`,
  ),
  'pain.D42': later(
    'higress-group/higress #4688',
    ROUTING,
    'Encrypted state stays with who can read it.',
    `${CONTINUITY}: a conversation that moves to another family`,
  ),
  'pain.D43': later(
    'OpenRouterTeam/ai-sdk-provider #499',
    ROUTING,
    'Conversations stay with the endpoint that has them cached.',
  ),
};
