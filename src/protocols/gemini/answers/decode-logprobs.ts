// Decodes `logprobsResult` into token log probabilities in OpenAI's form.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import { asArray, asNumber, asObject, asString } from '../../../base/json/index.ts';

const UTF8 = new TextEncoder();

/** Returns one element per chosen token, with its alternatives if requested; undefined if there are none. */
export function decodeLogprobs(raw: JsonValue | undefined): readonly JsonValue[] | undefined {
  const result = asObject(raw);
  const chosen = asArray(result['chosenCandidates']);
  if (chosen.length === 0) return undefined;
  const alternatives = asArray(result['topCandidates']);
  return chosen.map((token, position) => ({
    ...decodeToken(asObject(token)),
    top_logprobs: asArray(asObject(alternatives[position])['candidates']).map((other) =>
      decodeToken(asObject(other)),
    ),
  }));
}

function decodeToken(raw: JsonObject): JsonObject {
  const token = asString(raw['token']) ?? '';
  return { token, logprob: asNumber(raw['logProbability']) ?? 0, bytes: [...UTF8.encode(token)] };
}
