// The relay lane of the Responses API: what a faithful upstream takes as it stands, and how its answers pass. Only
// `id`, `model` and `store` of response objects change; every other byte is the upstream's.
import type { CanonicalRequest, JsonValue } from '../../canonical/index.ts';
import { asObject, isJsonObject, placeOfPlain } from '../../canonical/index.ts';
import { readAnswer } from '../answer-tap.ts';
import { editMembers } from '../json-splice.ts';
import type { RelayCodec, RelayFacts, RelayTap } from '../protocol.ts';
import { decodeResponse } from './decode-response.ts';
import { MAX_TEMPERATURE, MIN_OUTPUT_TOKENS } from './encode-request.ts';
import { WITHHELD_FIELDS } from './fields.ts';
import { ResponsesRelayStream } from './relay-stream.ts';
import { responsePatches } from './response-patches.ts';

export const relay: RelayCodec = {
  accepts,
  editRequest,
  patchResponse,
  openStream: (facts) => new ResponsesRelayStream(facts),
};

/** Members of `reasoning` that are the gateway's, or of other protocols: OpenAI refuses them. */
const NOT_OPENAIS: ReadonlySet<string> = new Set(['usage', 'enabled', 'max_tokens', 'exclude']);

function accepts(request: CanonicalRequest): boolean {
  const { raw, state } = request;
  if (state === undefined) return false;
  // What is stored is stored here: the upstream has never heard of it.
  if (
    state.previousResponseId !== undefined ||
    state.conversationId !== undefined ||
    state.prompt !== undefined ||
    state.truncation === 'auto'
  )
    return false;
  if ((request.maxOutputTokens ?? MIN_OUTPUT_TOKENS) < MIN_OUTPUT_TOKENS) return false;
  if ((request.temperature ?? 0) > MAX_TEMPERATURE) return false;
  // Tools or a choice among them were dropped: the client's own words would still ask for them.
  const tools = Array.isArray(raw['tools']) ? raw['tools'].length : 0;
  if (tools !== request.tools.length) return false;
  const choice = raw['tool_choice'] ?? 'auto';
  // Words of others, which OpenAI does not know.
  if (choice === 'any' || (isJsonObject(choice) && choice['type'] === undefined)) return false;
  if (tools === 0 && choice !== 'auto' && choice !== 'none') return false;
  if (Object.keys(asObject(raw['reasoning'])).some((key) => NOT_OPENAIS.has(key))) return false;
  return request.items.every((item) => {
    if (item.type === 'reference') return false;
    // Ids of files are the gateway's own.
    return !('parts' in item) || !item.parts.some((part) => 'media' in part && part.media.kind === 'file_id');
  });
}

function editRequest(body: string, request: CanonicalRequest, model: string): string {
  const { raw } = request;
  const set: Record<string, JsonValue> = {};
  if (raw['model'] !== model) set['model'] = model;
  // The gateway keeps answers itself; the upstream shall not.
  if (raw['store'] !== false) set['store'] = false;
  const remove = Object.keys(raw).filter((key) => WITHHELD_FIELDS.has(key));
  // Known to Chat Completions only: OpenAI refuses it here.
  const options = raw['stream_options'];
  if (isJsonObject(options) && 'include_usage' in options) {
    const { include_usage: _, ...others } = options;
    if (Object.keys(others).length === 0) remove.push('stream_options');
    else set['stream_options'] = others;
  }
  return editMembers(body, { set, remove, known: placeOfPlain(raw['input'], body) });
}

function patchResponse(body: string, facts: RelayFacts): { body: string; tap: RelayTap } {
  const { upstreamId, usage, finish, outputChars, isEmpty } = readAnswer(body, decodeResponse);
  const patched = editMembers(body, { set: responsePatches(facts) });
  return { body: patched, tap: { upstreamId, usage, finish, outputChars, isEmpty, answer: () => patched } };
}
