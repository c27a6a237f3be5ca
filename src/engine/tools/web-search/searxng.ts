// SearXNG, a self-hosted metasearch engine: encodes searches and decodes results (SearXNG documentation, "Search API"
// and `searx/webutils.py`, read 2026-11).
import { asArray, asObject, asString } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { SearchApi } from './search-api.ts';

/** Maximum domains in a query; with more, the restrictions would be longer than the query. */
const MOST_DOMAINS = 5;

export const searxng: SearchApi = {
  name: 'searxng',
  address: null,

  // SearXNG supports a language but no location, and clients send no language.
  encodeSearch({ query, allowed, blocked }, key) {
    const parameters = new URLSearchParams({
      q: [query, ...sites(allowed, blocked)].join(' '),
      format: 'json',
    });
    const headers: Record<string, string> = {};
    // SearXNG has no keys, but a proxy in front of it may.
    if (key) headers['authorization'] = `Bearer ${key.reveal()}`;
    return { path: `/search?${parameters}`, headers };
  },

  decodeResults(answer) {
    const results = answer['results'];
    if (!Array.isArray(results)) return undefined;
    if (results.length === 0) throwIfNoneAnswered(answer);
    return asArray(results)
      .map(asObject)
      .map(({ url, title, content, publishedDate }) => ({
        url,
        title,
        text: content,
        publishedAt: publishedDate,
      }));
  },

  explainRefusal: (status) =>
    status === 401 || status === 403
      ? `it returned status ${status}; the operator must add \`json\` to \`search.formats\` in its settings.yml` +
        ' (and check tools.web_search.api_key if a proxy in front of it requires a key)'
      : undefined,
};

/** Some engines behind it ignore these operators, but without them few results would match the domains. */
function sites(
  allowed: readonly { readonly host: string }[],
  blocked: readonly { readonly host: string }[],
): readonly string[] {
  const only = allowed.map(({ host }) => `site:${host}`);
  const never = blocked.map(({ host }) => `-site:${host}`);
  return [
    ...(only.length > 0 && only.length <= MOST_DOMAINS ? [only.join(' OR ')] : []),
    ...(never.length <= MOST_DOMAINS ? never : []),
  ];
}

/** An empty result because all engines refused is an error. */
function throwIfNoneAnswered(answer: JsonObject): void {
  const failed = asArray(answer['unresponsive_engines']).map((entry) =>
    asArray(entry)
      .map((part) => asString(part) ?? '')
      .join(': '),
  );
  if (failed.length > 0)
    throw new GatewayError(
      'upstream_unavailable',
      `Web search: none of SearXNG's engines responded (${failed.slice(0, 5).join(', ')})`,
      { code: 'search_failed' },
    );
}
