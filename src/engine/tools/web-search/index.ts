// Web search: the engines, one line each, and how one is opened. The only way into this folder.
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
 * The configured engine, ready to be asked.
 * @param fetch must be allowed to connect to `searchHost(settings)`, which may be private, and to nothing else that is
 * @throws TypeError when there is no address to ask at; the configuration is checked before
 */
export function openSearchBackend(settings: SearchSettings, fetch: Fetch): SearchBackend {
  return openBackend(ENGINES[settings.backend], addressOf(settings), settings, fetch);
}

/** `host:port` that a search goes to: what the guard must exempt, since an engine of one's own is rarely public. */
export function searchHost(settings: Pick<SearchSettings, 'backend' | 'url'>): string {
  return hostAndPort(addressOf(settings));
}

function addressOf({ backend, url }: Pick<SearchSettings, 'backend' | 'url'>): string {
  const address = url ?? ENGINES[backend].address;
  if (address === null) throw new TypeError(`tools.web_search.url is missing: ${backend} has no address`);
  return address;
}
