// Web search engines, and how one is opened. Other folders import only this file.
import { hostAndPort } from '../../../upstream/guard.ts';
import { openBackend, type Fetch } from './open-backend.ts';
import type { SearchApi } from './search-api.ts';
import type { SearchBackend, SearchEngineName, SearchSettings } from './backend.ts';
import { brave } from './brave.ts';
import { exa } from './exa.ts';
import { searxng } from './searxng.ts';
import { tavily } from './tavily.ts';

export { decodeDomain, isWithin, type Domain } from './domain.ts';
export type {
  SearchBackend,
  SearchEngineName,
  SearchQuery,
  SearchResult,
  SearchSettings,
} from './backend.ts';

const ENGINES: Readonly<Record<SearchEngineName, SearchApi>> = { searxng, brave, tavily, exa };

/**
 * The configured engine.
 * @param fetch must allow `searchHost(settings)`, which may be private, and no other private host
 * @throws TypeError without an address, which the configuration excludes
 */
export function openSearchBackend(settings: SearchSettings, fetch: Fetch): SearchBackend {
  return openBackend(ENGINES[settings.backend], addressOf(settings), settings, fetch);
}

/** `host:port` of the engine, which the guard must allow because self-hosted engines are rarely public. */
export function searchHost(settings: Pick<SearchSettings, 'backend' | 'url'>): string {
  return hostAndPort(addressOf(settings));
}

function addressOf({ backend, url }: Pick<SearchSettings, 'backend' | 'url'>): string {
  const address = url ?? ENGINES[backend].address;
  if (address === null) throw new TypeError(`tools.web_search.url: is required for ${backend}`);
  return address;
}
