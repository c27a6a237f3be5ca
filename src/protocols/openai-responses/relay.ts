// Relay lane of the Responses API: selects requests to send unchanged, and patches `id`, `model` and `store` of
// responses.
import { editJson, type JsonBytes, type JsonValue, setMembers } from '../../base/json/index.ts';
import { joined, type Slices } from '../../base/lib/bytes.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import { asObject, isJsonObject } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { readAnswer } from '../relay/answer-tap.ts';
import type { PatchedAnswer, RelayCodec, RelayFacts } from '../protocol.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { MIN_OUTPUT_TOKENS } from './requests/encode-request.ts';
import { MAX_TEMPERATURE } from './fields.ts';
import { WITHHELD_FIELDS } from './fields.ts';
import { ResponsesRelayStream } from './relay-stream.ts';
import { responsePatches } from './answers/response-patches.ts';

export const relay: RelayCodec = {
  accepts,
  requireLegal,
  editRequest,
  patchResponse,
  openStream: (facts) => new ResponsesRelayStream(facts),
};

/** Members of `reasoning` from the gateway or other protocols, which OpenAI refuses. */
const NOT_OPENAIS: ReadonlySet<string> = new Set(['usage', 'enabled', 'max_tokens', 'exclude']);

function accepts(request: CanonicalRequest): boolean {
  const { raw, state } = request;
  if (state === undefined) return false;
  // Responses are stored by the gateway, so the upstream does not know them.
  if (
    state.previousResponseId !== undefined ||
    state.conversationId !== undefined ||
    state.prompt !== undefined ||
    state.truncation === 'auto'
  )
    return false;
  if ((request.temperature ?? 0) > MAX_TEMPERATURE) return false;
  // If tools or their choice were dropped, the client's body would still contain them.
  const tools = Array.isArray(raw['tools']) ? raw['tools'].length : 0;
  if (tools !== request.tools.length) return false;
  const choice = raw['tool_choice'] ?? 'auto';
  // Forms of other vendors, which OpenAI does not accept.
  if (choice === 'any' || (isJsonObject(choice) && choice['type'] === undefined)) return false;
  if (tools === 0 && choice !== 'auto' && choice !== 'none') return false;
  if (Object.keys(asObject(raw['reasoning'])).some((key) => NOT_OPENAIS.has(key))) return false;
  return request.items.every((item) => {
    if (item.type === 'reference') return false;
    // File ids are the gateway's own.
    return !('parts' in item) || !item.parts.some((part) => 'media' in part && part.media.kind === 'file_id');
  });
}

/** The code is OpenAI's own for a number below the minimum (guide "Error codes", 2026-11). */
function requireLegal({ maxOutputTokens: limit }: CanonicalRequest): void {
  if (limit === undefined || limit >= MIN_OUTPUT_TOKENS) return;
  throw new GatewayError(
    'unsupported',
    `max_output_tokens must be at least ${MIN_OUTPUT_TOKENS} for OpenAI's Responses API (got ${limit}).`,
    { param: 'max_output_tokens', code: 'integer_below_min_value' },
  );
}

function editRequest(body: JsonBytes, request: CanonicalRequest, model: string): Slices {
  const { raw } = request;
  const set: Record<string, JsonValue> = {};
  if (raw['model'] !== model) set['model'] = model;
  // The gateway stores answers itself, so the upstream must not.
  if (raw['store'] !== false) set['store'] = false;
  const remove = Object.keys(raw).filter((key) => WITHHELD_FIELDS.has(key));
  if ('background' in raw) remove.push('background');
  // Only Chat Completions has this member. OpenAI refuses it here.
  const options = raw['stream_options'];
  if (isJsonObject(options) && 'include_usage' in options) {
    const { include_usage: _, ...others } = options;
    if (Object.keys(others).length === 0) remove.push('stream_options');
    else set['stream_options'] = others;
  }
  return editJson(body, { set, remove });
}

function patchResponse(bytes: Uint8Array, json: unknown, facts: RelayFacts): PatchedAnswer {
  const { upstreamId, usage, finish, outputChars, isEmpty } = readAnswer(json, decodeResponse);
  const body = setMembers(bytes, responsePatches(facts));
  const answer = (): string => joined(body).toString();
  return { body, tap: { upstreamId, usage, finish, outputChars, isEmpty, answer } };
}
