// A web search, whichever engine makes it: question, results, settings. Knows no engine and sends nothing.
import type { Secret } from '../../../base/telemetry/secret.ts';
import type { DurationMs } from '../../../base/units.ts';

export type ContextSize = 'low' | 'medium' | 'high';

/** Approximate location of the person who asks. */
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
  /** Only pages of these and their subdomains; empty: of all. A path behind a domain narrows it further. */
  readonly allowedDomains: readonly string[];
  /** No pages of these and their subdomains. */
  readonly blockedDomains: readonly string[];
  /** How many results, and how much of each. */
  readonly contextSize: ContextSize;
  readonly userLocation?: UserLocation | undefined;
}

export interface SearchResult {
  /** Absolute, http or https. */
  readonly url: string;
  readonly title: string;
  /** The engine's description of the page, as plain text. */
  readonly text: string;
  /** As the engine writes it; most write ISO 8601. */
  readonly publishedAt?: string | undefined;
}

export interface SearchBackend {
  /** Name of the engine, as in the configuration. */
  readonly name: string;
  /**
   * Asks the engine once.
   * @param charged called when the engine may ask money for it: it was sent the question and did not refuse it
   * @returns the best result first, within the limits of the settings
   * @throws GatewayError at fault `upstream` when the engine cannot be asked or its answer not be read, `client` for a
   * domain that is none, `cancelled` when the signal was aborted
   */
  search(query: SearchQuery, signal: AbortSignal, charged?: () => void): Promise<readonly SearchResult[]>;
}

export type SearchEngineName = 'searxng' | 'brave' | 'tavily' | 'exa';

export interface SearchSettings {
  readonly backend: SearchEngineName;
  /** Address of the engine; null: the one that its owner documents. */
  readonly url: string | null;
  readonly apiKey: Secret | null;
  /** Most results of one search, whatever its context size. */
  readonly maxResults: number;
  /** For one search together. */
  readonly timeoutMs: DurationMs;
}
