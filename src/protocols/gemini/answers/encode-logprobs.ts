// Token log probabilities as `logprobsResult`, from OpenAI's element shape. Knows nothing of events.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import { asArray, asNumber, asObject, asString } from '../../../base/json/index.ts';

/** The chosen tokens, and their alternatives where any token has some. */
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
