// Interface of web search engines: query, results and settings.
import type { Secret } from '../../../base/telemetry/secret.ts';
import type { DurationMs } from '../../../base/units.ts';

export type ContextSize = 'low' | 'medium' | 'high';

/** Approximate location of the user. */
export interface UserLocation {
  readonly city?: string | undefined;
  /** Two letters (ISO 3166-1 alpha-2). */
  readonly country?: string | undefined;
  readonly region?: string | undefined;
  /** IANA name, e.g. `Europe/Paris`. */
  readonly timezone?: string | undefined;
}

export interface SearchQuery {
  readonly query: string;
  /** Only pages of these domains and their subdomains. Empty: all. A path after a domain restricts it further. */
  readonly allowedDomains: readonly string[];
  /** Excludes pages of these domains and their subdomains. */
  readonly blockedDomains: readonly string[];
  /** Controls the number and length of results. */
  readonly contextSize: ContextSize;
  readonly userLocation?: UserLocation | undefined;
}

export interface SearchResult {
  /** Absolute, http or https. */
  readonly url: string;
  readonly title: string;
  /** The engine's description of the page, as plain text. */
  readonly text: string;
  /** As written by the engine, usually ISO 8601. */
  readonly publishedAt?: string | undefined;
}

export interface SearchBackend {
  /** Name of the engine, as in the configuration. */
  readonly name: string;
  /**
   * Sends one search.
   * @param charged called when the engine may charge it: the query was sent and not refused
   * @returns best result first, within the limits of the settings
   * @throws GatewayError with fault `upstream` when the engine is unavailable or its answer invalid, `client` for an
   * invalid domain, `cancelled` when the signal was aborted
   */
  search(query: SearchQuery, signal: AbortSignal, charged?: () => void): Promise<readonly SearchResult[]>;
}

export type SearchEngineName = 'searxng' | 'brave' | 'tavily' | 'exa';

export interface SearchSettings {
  readonly backend: SearchEngineName;
  /** Address of the engine. Null: its vendor's documented address. */
  readonly url: string | null;
  readonly apiKey: Secret | null;
  /** Maximum results of one search, for any context size. */
  readonly maxResults: number;
  /** Timeout of one search. */
  readonly timeoutMs: DurationMs;
}
