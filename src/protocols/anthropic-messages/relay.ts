// The relay lane of the Messages API: what a faithful upstream takes as it stands, and how its answers pass. Only `id`
// and `model` of the message change; every other byte is the upstream's.
import type { CanonicalRequest, Item, JsonValue, Part } from '../../canonical/index.ts';
import { placeOfPlain } from '../../canonical/index.ts';
import { readAnswer } from '../answer-tap.ts';
import { editMembers } from '../json-splice.ts';
import type { RelayCodec, RelayFacts, RelayTap } from '../protocol.ts';
import { decodeResponse } from './decode-response.ts';
import { saysReasoning } from './encode-thinking.ts';
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

/**
 * False where the client's own bytes hold what only another family of models can read, or lack what the gateway found
 * again for it.
 */
function accepts(request: CanonicalRequest): boolean {
  return request.items.every(
    (item) => isClaudes(item) && (!('parts' in item) || item.parts.every(isOwnPart)),
  );
}

/** False for work of another's tools, and for thinking that the client's bytes do not hold as it must be: another family's, or found in the vault. */
function isClaudes(item: Item): boolean {
  if (item.type === 'reference') return false;
  if ((item.type === 'tool_call' || item.type === 'tool_result') && isForeignWork(item.callId)) return false;
  if (item.type !== 'reasoning') return true;
  const { opaque, source } = item;
  if (opaque?.format !== CLAUDE_REASONING || source === undefined) return false;
  return opaque.data === source.raw[opaque.kind === 'signature' ? 'signature' : 'data'];
}

/** False for a text with citations that another model made. */
function isOwnPart(part: Part): boolean {
  return (
    part.type !== 'text' || (part.annotations ?? []).every((annotation) => annotation.source !== undefined)
  );
}

function editRequest(body: string, request: CanonicalRequest, model: string): string {
  const set: Record<string, JsonValue> = {};
  if (request.raw['model'] !== model) set['model'] = model;
  const remove = Object.keys(request.raw).filter((key) => GATEWAY_KEYS.has(key));
  return editMembers(body, { set, remove, known: placeOfPlain(request.raw['messages'], body) });
}

function patchResponse(body: string, facts: RelayFacts): { body: string; tap: RelayTap } {
  const tap = readAnswer(body, decodeResponse);
  return { body: editMembers(body, { set: { id: facts.id, model: facts.model } }), tap };
}
