// Contract of an engine's file: how a search is written for it, and where its answer holds the results. Sending,
// errors, limits and filters are the same for all engines, and stand elsewhere.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { Secret } from '../../../base/telemetry/secret.ts';
import type { Domain } from './domain.ts';
import type { ContextSize, SearchEngineName, UserLocation } from './backend.ts';

/** One search, with the limits worked out. */
export interface PlannedSearch {
  readonly query: string;
  readonly allowed: readonly Domain[];
  readonly blocked: readonly Domain[];
  readonly contextSize: ContextSize;
  readonly location: UserLocation;
  readonly results: number;
  /** Characters of text per result that are of use. */
  readonly charsPerResult: number;
}

export interface EncodedSearch {
  /** With its query, appended to the address of the engine. */
  readonly path: string;
  /** By lower-case name. Values may hold any characters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Makes it a POST. */
  readonly json?: JsonObject | undefined;
}

/** A result as found: nothing of it has been looked at. */
export interface FoundResult {
  readonly url: JsonValue | undefined;
  readonly title: JsonValue | undefined;
  readonly text: JsonValue | undefined;
  readonly publishedAt?: JsonValue | undefined;
}

export interface SearchApi {
  readonly name: SearchEngineName;
  /** Address at which its owner serves it. Null: every operator runs an own server. */
  readonly address: string | null;
  encodeSearch(search: PlannedSearch, key: Secret | null): EncodedSearch;
  /**
   * The results in an answer with a 2xx status; undefined when it is no answer to a search.
   * @throws GatewayError when the answer reports a failure
   */
  decodeResults(answer: JsonObject): readonly FoundResult[] | undefined;
  /** Instructions for the operator after an answer that refuses the gateway. Undefined: it is another failure. */
  explainRefusal(status: number, code: string | undefined): string | undefined;
}

/** Most engines answer 401 and 403 to a key that they do not take. */
export function explainRefusedKey(status: number): string | undefined {
  return status === 401 || status === 403
    ? 'it refused the key; the operator must check tools.web_search.api_key'
    : undefined;
}
