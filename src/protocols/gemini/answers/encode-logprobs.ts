// Encodes token log probabilities from OpenAI's form as `logprobsResult`.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import { asArray, asNumber, asObject, asString } from '../../../base/json/index.ts';

/** Encodes the chosen tokens, and their alternatives if any token has some. */
export function encodeLogprobs(elements: readonly JsonValue[]): JsonObject {
  const alternatives = elements.map((element) => asArray(asObject(element)['top_logprobs']));
  const chosenCandidates = elements.map((element) => encodeToken(asObject(element)));
  if (alternatives.every((tokens) => tokens.length === 0)) return { chosenCandidates };
  return {
    chosenCandidates,
    topCandidates: alternatives.map((tokens) => ({
      candidates: tokens.map((token) => encodeToken(asObject(token))),
    })),
  };
}

function encodeToken(raw: JsonObject): JsonObject {
  return { token: asString(raw['token']) ?? '', logProbability: asNumber(raw['logprob']) ?? 0 };
}
