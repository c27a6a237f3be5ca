// Relay lane of the Messages API: selects requests to send unchanged, and patches `id` and `model` of answers.
import { editJson, type JsonBytes, type JsonValue, setMembers } from '../../base/json/index.ts';
import { joined, type Slices } from '../../base/lib/bytes.ts';
import type { CanonicalRequest, Item, Part } from '../../canonical/index.ts';
import { readAnswer } from '../relay/answer-tap.ts';
import type { PatchedAnswer, RelayCodec, RelayFacts } from '../protocol.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { saysReasoning } from './requests/encode-thinking.ts';
import { messageId } from './answers/encode-envelope.ts';
import { GATEWAY_KEYS } from './fields.ts';
import { isForeignWork } from './hosted-blocks.ts';
import { CLAUDE_REASONING } from './foreign-reasoning.ts';
import { MessagesRelayStream } from './relay-stream.ts';

export const relay: RelayCodec = {
  accepts,
  saysReasoning,
  editRequest,
  patchResponse,
  openStream: (facts) => new MessagesRelayStream(facts),
};

/** False if the client's own body contains items of another model family, or lacks restored reasoning. */
function accepts(request: CanonicalRequest): boolean {
  return request.items.every(
    (item) => isClaudes(item) && (!('parts' in item) || item.parts.every(isOwnPart)),
  );
}

/**
 * False for another vendor's tool work, and for thinking that the client's body does not contain correctly: of another
 * family, or restored by the gateway.
 */
function isClaudes(item: Item): boolean {
  if (item.type === 'reference') return false;
  if ((item.type === 'tool_call' || item.type === 'tool_result') && isForeignWork(item.callId)) return false;
  if (item.type !== 'reasoning') return true;
  const { opaque, source } = item;
  if (opaque?.format !== CLAUDE_REASONING || source === undefined) return false;
  return opaque.data === source.raw[opaque.kind === 'signature' ? 'signature' : 'data'];
}

/** False for a text with citations of another model. */
function isOwnPart(part: Part): boolean {
  return (
    part.type !== 'text' || (part.annotations ?? []).every((annotation) => annotation.source !== undefined)
  );
}

function editRequest(body: JsonBytes, request: CanonicalRequest, model: string): Slices {
  const set: Record<string, JsonValue> = {};
  if (request.raw['model'] !== model) set['model'] = model;
  const remove = Object.keys(request.raw).filter((key) => GATEWAY_KEYS.has(key));
  return editJson(body, { set, remove });
}

function patchResponse(bytes: Uint8Array, json: unknown, facts: RelayFacts): PatchedAnswer {
  const { upstreamId, usage, finish, outputChars, isEmpty } = readAnswer(json, decodeResponse);
  const body = setMembers(bytes, { id: messageId(facts.id), model: facts.model });
  const answer = (): string => joined(body).toString();
  return { body, tap: { upstreamId, usage, finish, outputChars, isEmpty, answer } };
}
