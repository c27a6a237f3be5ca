// Relay lane of Gemini: selects requests to send unchanged, and patches `responseId` and `modelVersion` of answers.
import { editJson, type JsonBytes, type JsonValue, setMembers } from '../../base/json/index.ts';
import type { Slices } from '../../base/lib/bytes.ts';
import type { CanonicalRequest, Item } from '../../canonical/index.ts';
import { asArray, isJsonObject } from '../../base/json/index.ts';
import { readAnswer } from '../relay/answer-tap.ts';
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

/** False if the client's body contains what Google cannot read, or lacks reasoning that the gateway has restored. */
function accepts(request: CanonicalRequest): boolean {
  if ((request.temperature ?? 0) > MAX_TEMPERATURE) return false;
  const { systemInstruction, system_instruction: snake } = request.raw;
  // The gateway accepts a string here, but Google requires a content.
  if (typeof (systemInstruction ?? snake) === 'string') return false;
  return !asArray(request.raw['contents']).some(hasEmptyPart) && request.items.every(isAsWritten);
}

/** True if there is a part without data, which Google refuses. Some clients send one for an empty text. */
function hasEmptyPart(content: JsonValue): boolean {
  if (!isJsonObject(content)) return false;
  return asArray(content['parts']).some((part) => isJsonObject(part) && Object.keys(part).length === 0);
}

/** False for reasoning of another family, or restored by the gateway: only what a client sent has a path. */
function isAsWritten(item: Item): boolean {
  if (item.type === 'reference') return false;
  if (item.type !== 'reasoning') return true;
  const isOwn = item.opaque === undefined || item.opaque.format === GEMINI_REASONING;
  return isOwn && item.source?.protocol === 'gemini' && item.path !== undefined;
}

function editRequest(body: JsonBytes, request: CanonicalRequest, model: string): Slices {
  const remove = Object.keys(request.raw).filter((key) => GATEWAY_KEYS.has(key));
  // The model is in the path, but some clients repeat it in the body.
  const set: Record<string, JsonValue> = 'model' in request.raw ? { model: `models/${model}` } : {};
  return editJson(body, { set, remove });
}

function patchResponse(body: Uint8Array, json: unknown, facts: RelayFacts): PatchedAnswer {
  const tap = readAnswer(json, decodeResponse);
  return { body: setMembers(body, envelopePatches(facts)), tap };
}
