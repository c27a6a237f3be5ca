// Answer members that only Gemini has, such as safety ratings, averages and prompt feedback. They travel with the
// finish event for Gemini clients; other protocols cannot express them.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { FinishEvent, Source } from '../../../canonical/index.ts';
import { asArray, asObject } from '../../../base/json/index.ts';
import { GROUNDING_MEMBERS } from './decode-grounding.ts';

/** Members that the canonical events hold, or that the gateway writes itself. */
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

/** Collects the remaining members of one answer's objects. Later values replace earlier ones. */
export class AnswerRest {
  readonly #response: MutableJsonObject = {};
  readonly #candidate: MutableJsonObject = {};
  #isEmpty = true;

  /** Takes a `GenerateContentResponse` and its candidate. */
  take(response: JsonObject, candidate: JsonObject): void {
    for (const name in response) if (!RESPONSE_HELD.has(name)) this.#keep(this.#response, name, response);
    for (const name in candidate) if (!CANDIDATE_HELD.has(name)) this.#keep(this.#candidate, name, candidate);
  }

  /** Takes members of a candidate that could not be converted. */
  add(candidate: JsonObject): void {
    for (const name in candidate) this.#keep(this.#candidate, name, candidate);
  }

  /** Returns the members as a response; undefined if there are none. */
  get source(): Source | undefined {
    if (this.#isEmpty) return undefined;
    return { protocol: 'gemini', raw: { ...this.#response, candidates: [this.#candidate] } };
  }

  #keep(into: MutableJsonObject, name: string, from: JsonObject): void {
    into[name] = from[name];
    this.#isEmpty = false;
  }
}

/** Returns the remaining members of an answer from this protocol: those of the candidate, and of the object around it. */
export function readRest({ source }: Pick<FinishEvent, 'source'>): {
  readonly candidate: JsonObject;
  readonly response: JsonObject;
} {
  const { candidates, ...response } = source?.protocol === 'gemini' ? source.raw : {};
  return { candidate: asObject(asArray(candidates)[0]), response };
}
