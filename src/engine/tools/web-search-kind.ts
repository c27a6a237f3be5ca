// Web search as a kind of tool: finds the request's search settings and the addresses that its client mentioned.
import type { CanonicalRequest, SearchWish } from '../../canonical/index.ts';
import type { Native } from './available-tools.ts';
import type { GatewayTool, ToolKind, ToolScene } from './gateway-tool.ts';
import { addressesMeantIn } from './pages/addresses.ts';
import type { PageReader } from './pages/read-page.ts';
import type { SearchBackend } from './web-search/index.ts';
import { WebSearchTool } from './web-search-tool.ts';

export interface SearchSource {
  readonly backend: SearchBackend;
  readonly native: Native;
  /** Null: pages may not be opened. */
  readonly pages: PageReader | null;
  /** USD per search. Null: unknown. */
  readonly priceUsd: number | null;
}

/** Web search with the configured engine. */
export function webSearchKind(source: SearchSource): ToolKind {
  return {
    open(request: CanonicalRequest, { names, sources }: ToolScene): readonly GatewayTool[] {
      const wish = searchWish(request);
      if (!wish) return [];
      let mentioned: ReadonlySet<string> | undefined;
      const isMentioned = (address: string): boolean => (mentioned ??= addressesOf(request)).has(address);
      return [new WebSearchTool({ ...source, wish, names, sources, isMentioned })];
    },
  };
}

/** Search settings of the request, from its tools or options. */
function searchWish({ tools, webSearch }: CanonicalRequest): SearchWish | undefined {
  for (const tool of tools)
    if (tool.type === 'hosted' && tool.meaning?.type === 'web_search') return tool.meaning.search;
  return webSearch && { ...webSearch, allowedDomains: [], blockedDomains: [] };
}

/**
 * Addresses in the client's messages, collected when a model first opens a page. Model output is excluded because it
 * may be invented.
 */
function addressesOf({ items }: CanonicalRequest): ReadonlySet<string> {
  const texts = items.flatMap((item) =>
    item.type === 'message' && item.role !== 'assistant'
      ? item.parts.map((part) => (part.type === 'text' ? part.text : ''))
      : [],
  );
  return new Set(texts.flatMap((text) => [...addressesMeantIn(text)]));
}
