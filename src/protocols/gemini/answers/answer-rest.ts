// Parts of an answer beside its words, counts and end that only this protocol knows: ratings, averages, feedback on
// the prompt, and whatever comes later. It travels with the finish, for clients that speak Gemini; others have no place.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { FinishEvent, Source } from '../../../canonical/index.ts';
import { asArray, asObject } from '../../../base/json/index.ts';
import { GROUNDING_MEMBERS } from './decode-grounding.ts';

/** Members that the canonical events hold, or that are the gateway's own to say. */
const RESPONSE_HELD: ReadonlySet<string> = new Set([
  'candidates',
  'usageMetadata',
  'modelVersion',
  'responseId',
]);
const CANDIDATE_HELD: ReadonlySet<string> = new Set([
  'content',
  'finishReason',
  'index',
  'logprobsResult',
  ...GROUNDING_MEMBERS,
]);

/** Gathers what is left of the objects of one answer; later ones say it anew. */
export class AnswerRest {
  readonly #response: MutableJsonObject = {};
  readonly #candidate: MutableJsonObject = {};
  #isEmpty = true;

  /** Takes one `GenerateContentResponse` and its candidate. */
  take(response: JsonObject, candidate: JsonObject): void {
    for (const name in response) if (!RESPONSE_HELD.has(name)) this.#keep(this.#response, name, response);
    for (const name in candidate) if (!CANDIDATE_HELD.has(name)) this.#keep(this.#candidate, name, candidate);
  }

  /** Takes members of a candidate that found no other place. */
  add(candidate: JsonObject): void {
    for (const name in candidate) this.#keep(this.#candidate, name, candidate);
  }

  /** In the form of a response; undefined when nothing is left. */
  get source(): Source | undefined {
    if (this.#isEmpty) return undefined;
    return { protocol: 'gemini', raw: { ...this.#response, candidates: [this.#candidate] } };
  }

  #keep(into: MutableJsonObject, name: string, from: JsonObject): void {
    into[name] = from[name];
    this.#isEmpty = false;
  }
}

/** The rest of an answer that came from this protocol: members of the candidate, and of the object around it. */
export function readRest({ source }: Pick<FinishEvent, 'source'>): {
  readonly candidate: JsonObject;
  readonly response: JsonObject;
} {
  const { candidates, ...response } = source?.protocol === 'gemini' ? source.raw : {};
  return { candidate: asObject(asArray(candidates)[0]), response };
}
