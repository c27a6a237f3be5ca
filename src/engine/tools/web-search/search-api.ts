// Interface of an engine's file: encoding of searches and location of the results. Requests, errors, limits and filters
// are shared by all engines.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { Secret } from '../../../base/telemetry/secret.ts';
import type { Domain } from './domain.ts';
import type { ContextSize, SearchEngineName, UserLocation } from './backend.ts';

/** A search with resolved limits. */
export interface PlannedSearch {
  readonly query: string;
  readonly allowed: readonly Domain[];
  readonly blocked: readonly Domain[];
  readonly contextSize: ContextSize;
  readonly location: UserLocation;
  readonly results: number;
  /** Useful characters of text per result. */
  readonly charsPerResult: number;
}

export interface EncodedSearch {
  /** Path and query, appended to the engine's address. */
  readonly path: string;
  /** By lower-case name. Values may hold any characters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Present: the request is a POST. */
  readonly json?: JsonObject | undefined;
}

/** A result as found, not validated. */
export interface FoundResult {
  readonly url: JsonValue | undefined;
  readonly title: JsonValue | undefined;
  readonly text: JsonValue | undefined;
  readonly publishedAt?: JsonValue | undefined;
}

export interface SearchApi {
  readonly name: SearchEngineName;
  /** Address at its vendor. Null: self-hosted only. */
  readonly address: string | null;
  encodeSearch(search: PlannedSearch, key: Secret | null): EncodedSearch;
  /**
   * Results of a 2xx answer. Undefined: the answer is invalid.
   * @throws GatewayError when the answer reports a failure
   */
  decodeResults(answer: JsonObject): readonly FoundResult[] | undefined;
  /** Advice for the operator when the engine refuses the gateway. Undefined: another failure. */
  explainRefusal(status: number, code: string | undefined): string | undefined;
}

/** Most engines respond with 401 or 403 to an invalid key. */
export function explainRefusedKey(status: number): string | undefined {
  return status === 401 || status === 403
    ? 'it rejected the key; the operator must check tools.web_search.api_key'
    : undefined;
}
