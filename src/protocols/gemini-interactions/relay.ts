// Relay lane of the Interactions API, which is its only lane. Only ids and the model's name are replaced.
import { editJson, type JsonBytes, type JsonValue } from '../../base/json/index.ts';
import type { Slices } from '../../base/lib/bytes.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import { readAnswer } from '../relay/answer-tap.ts';
import type { RelayCodec } from '../protocol.ts';
import { decodeResponse } from './answers/decode-response.ts';
import { GATEWAY_KEYS } from './fields.ts';
import { patchInteraction } from './envelope.ts';
import { InteractionsRelayStream } from './relay-stream.ts';

export const relay: RelayCodec = {
  accepts: () => true,
  // The client expresses the amount of thinking in Google's own members, or leaves it to the model.
  saysReasoning: () => true,
  editRequest,
  patchResponse: (body, json, facts) => ({
    tap: readAnswer(json, decodeResponse),
    body: patchInteraction(body, json, facts),
  }),
  openStream: (facts) => new InteractionsRelayStream(facts),
};

function editRequest(body: JsonBytes, { raw, follows }: CanonicalRequest, model: string): Slices {
  const set: Record<string, JsonValue> = {};
  for (const member of ['model', 'agent'])
    if (raw[member] !== undefined && raw[member] !== null) set[member] = model;
  if (follows?.answer) set['previous_interaction_id'] = follows.answer.upstreamId;
  return editJson(body, { set, remove: Object.keys(raw).filter((key) => GATEWAY_KEYS.has(key)) });
}
