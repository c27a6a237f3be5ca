// The relay lane of Gemini: what Google takes as it stands, and how its answers pass. Only `responseId` and
// `modelVersion` change; every other byte is the upstream's.
import { editJson, type JsonBytes, type JsonValue, setMembers } from '../../base/json/index.ts';
import type { Slices } from '../../base/lib/slices.ts';
import type { CanonicalRequest, Item } from '../../canonical/index.ts';
import { asArray, isJsonObject } from '../../base/json/index.ts';
import { readAnswer } from '../answer-tap.ts';
import type { PatchedAnswer, RelayCodec, RelayFacts } from '../protocol.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { saysReasoning } from './requests/encode-generation-config.ts';
import { MAX_TEMPERATURE } from './fields.ts';
import { envelopePatches } from './patch-envelope.ts';
import { GeminiRelayStream } from './relay-stream.ts';
import { GEMINI_REASONING } from './thought-signature.ts';
import { GATEWAY_KEYS } from './fields.ts';

export const relay: RelayCodec = {
  accepts,
  saysReasoning,
  editRequest,
  patchResponse,
  openStream: (facts) => new GeminiRelayStream(facts),
};

/** False where the client's own bytes hold what Google cannot read, or lack what the gateway found again for it. */
function accepts(request: CanonicalRequest): boolean {
  if ((request.temperature ?? 0) > MAX_TEMPERATURE) return false;
  const { systemInstruction, system_instruction: snake } = request.raw;
  // A bare text is accepted here, but Google wants a content.
  if (typeof (systemInstruction ?? snake) === 'string') return false;
  return !asArray(request.raw['contents']).some(hasEmptyPart) && request.items.every(isAsWritten);
}

/** Google refuses a part without data, which some clients write for an empty text. */
function hasEmptyPart(content: JsonValue): boolean {
  if (!isJsonObject(content)) return false;
  return asArray(content['parts']).some((part) => isJsonObject(part) && Object.keys(part).length === 0);
}

/** False for reasoning that was sealed for another family's, or comes from the vault: what a client wrote has a path. */
function isAsWritten(item: Item): boolean {
  if (item.type === 'reference') return false;
  if (item.type !== 'reasoning') return true;
  const isOwn = item.opaque === undefined || item.opaque.format === GEMINI_REASONING;
  return isOwn && item.source?.protocol === 'gemini' && item.path !== undefined;
}

function editRequest(body: JsonBytes, request: CanonicalRequest, model: string): Slices {
  const remove = Object.keys(request.raw).filter((key) => GATEWAY_KEYS.has(key));
  // The model stands in the path; some clients repeat it.
  const set: Record<string, JsonValue> = 'model' in request.raw ? { model: `models/${model}` } : {};
  return editJson(body, { set, remove });
}

function patchResponse(body: Uint8Array, json: unknown, facts: RelayFacts): PatchedAnswer {
  const tap = readAnswer(json, decodeResponse);
  return { body: setMembers(body, envelopePatches(facts)), tap };
}
