// Relay lane of Chat Completions: replaces `id` and `model`, reads usage and finish reason, and passes every other byte
// unchanged. Only for upstreams that follow OpenAI's definition.
import { editJson, type JsonBytes, type JsonValue, setMembers } from '../../base/json/index.ts';
import type { Slices } from '../../base/lib/bytes.ts';
import type { CanonicalRequest, Part } from '../../canonical/index.ts';
import { asArray, asObject, asString, isJsonObject } from '../../base/json/index.ts';
import { areTexts } from '../../canonical/index.ts';
import { brokenAnswer } from '../errors/broken-answer.ts';
import type { PatchedAnswer, RelayCodec, RelayFacts, RelayTap } from '../protocol.ts';
import { MADE_ID } from './requests/short-call-ids.ts';
import { decodeInlineError } from './answers/decode-error.ts';
import { decodeUsage } from './answers/decode-usage.ts';
import { MAX_TEMPERATURE } from './fields.ts';
import { WITHHELD_FIELDS } from './fields.ts';
import { deltaChars, finishOf, hasContent } from './answers/read-choice.ts';
import { ChatRelayStream } from './relay-stream.ts';

/**
 * Members that are never sent to an upstream: gateway options, the deprecated limit, and `metadata`, which is recorded
 * here. OpenAI refuses `metadata` unless answers are stored.
 */
const REMOVED: ReadonlySet<string> = new Set([...WITHHELD_FIELDS, 'max_tokens', 'metadata']);

export const relay: RelayCodec = {
  accepts,
  editRequest,
  patchResponse,
  openStream: (facts) => new ChatRelayStream(facts),
};

function accepts(request: CanonicalRequest): boolean {
  const { enabled, maxTokens, exclude, summary } = request.reasoning;
  if (enabled !== undefined || maxTokens !== undefined || exclude !== undefined || summary !== undefined)
    return false;
  if (request.tools.some((tool) => tool.cache)) return false;
  if ((request.temperature ?? 0) > MAX_TEMPERATURE) return false;
  // These members have no effect without tools. They are reported as dropped, so they must not be relayed.
  if (request.tools.length === 0 && NEED_TOOLS.some((name) => (request.raw[name] ?? null) !== null))
    return false;
  // The gateway accepts the flat form of allowed tools, but OpenAI only the nested one.
  const choice = request.raw['tool_choice'];
  if (isJsonObject(choice) && choice['type'] === 'allowed_tools' && choice['allowed_tools'] === undefined)
    return false;
  if (choice === 'any' || (isJsonObject(choice) && choice['type'] === undefined)) return false;
  if (asArray(request.raw['messages']).some(hasExtensions)) return false;
  if (areTexts(request.items)) return true;
  return request.items.every((item) => {
    // Parts that OpenAI's messages cannot hold, and ids that only the gateway issued.
    if (item.type === 'unknown' || item.type === 'reasoning') return false;
    if (item.type === 'tool_call') return !item.callId.startsWith(MADE_ID);
    return !('parts' in item) || !item.parts.some(hasGatewayMeaning);
  });
}

/** Members that OpenAI refuses without tools. */
const NEED_TOOLS = ['tool_choice', 'parallel_tool_calls'] as const;

/** Extensions of the message that OpenAI refuses even if they are empty. */
const EXTENSIONS = ['reasoning', 'reasoning_content', 'reasoning_details', 'cache_control'] as const;

function hasExtensions(message: JsonValue): boolean {
  return isJsonObject(message) && EXTENSIONS.some((name) => name in message);
}

/** True for a part that OpenAI would not accept unchanged. */
function hasGatewayMeaning(part: Part): boolean {
  return part.cache !== undefined || (part.type === 'file' && part.media.kind !== 'base64');
}

function editRequest(body: JsonBytes, request: CanonicalRequest, model: string): Slices {
  const set: Record<string, JsonValue> = {};
  if (request.raw['model'] !== model) set['model'] = model;
  const remove = Object.keys(request.raw).filter((key) => REMOVED.has(key));
  if ('max_tokens' in request.raw && request.maxOutputTokens !== undefined)
    set['max_completion_tokens'] = request.maxOutputTokens;
  // The effort can be set in `reasoning` alone, which is a gateway member.
  const { effort } = request.reasoning;
  if (effort !== undefined && request.raw['reasoning_effort'] !== effort) set['reasoning_effort'] = effort;
  // The ledger always needs token counts. The stream withholds them from clients that did not ask.
  if (request.stream && request.streamUsage !== true)
    set['stream_options'] = { ...asObject(request.raw['stream_options']), include_usage: true };
  return editJson(body, { set, remove });
}

function patchResponse(body: Uint8Array, json: unknown, facts: RelayFacts): PatchedAnswer {
  if (!isJsonObject(json) || asArray(json['choices']).length === 0) {
    const failure = isJsonObject(json) ? decodeInlineError(json) : undefined;
    throw failure ?? brokenAnswer('the upstream returned 200 with a body that is not a chat completion');
  }
  const choice = asObject(asArray(json['choices'])[0]);
  const tap: RelayTap = {
    upstreamId: asString(json['id']),
    usage: isJsonObject(json['usage']) ? decodeUsage(json['usage']) : undefined,
    finish: finishOf(choice),
    outputChars: deltaChars(asObject(choice['message'])),
    isEmpty: !asArray(json['choices']).some((each) => hasContent(asObject(asObject(each)['message']))),
  };
  return { body: setMembers(body, { id: facts.id, model: facts.model }), tap };
}
