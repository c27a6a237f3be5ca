// Brave Search: encodes searches and decodes results (Brave Search API, "Web search": parameters, location headers,
// goggles, response; read 2026-11).
import { asArray, asObject, asString } from '../../../base/json/index.ts';
import { htmlToText } from '../pages/html-to-text.ts';
import type { Domain } from './domain.ts';
import { explainRefusedKey, type SearchApi } from './search-api.ts';
import type { UserLocation } from './backend.ts';

/** Maximum results of one page. */
const MOST_RESULTS = 20;

export const brave: SearchApi = {
  name: 'brave',
  address: 'https://api.search.brave.com',

  encodeSearch({ query, allowed, blocked, location, results }, key) {
    const parameters = new URLSearchParams({
      q: query,
      count: String(Math.min(results, MOST_RESULTS)),
      result_filter: 'web',
      text_decorations: 'false',
    });
    const rules = goggles(allowed, blocked);
    if (rules !== '') parameters.set('goggles', rules);
    return {
      path: `/res/v1/web/search?${parameters}`,
      headers: { 'x-subscription-token': key?.reveal() ?? '', ...locationHeaders(location) },
    };
  },

  decodeResults(answer) {
    if (answer['type'] !== 'search') return undefined;
    // A missing `web` means no results.
    return asArray(asObject(answer['web'])['results'])
      .map(asObject)
      .map((result) => ({
        url: result['url'],
        title: plain(result['title']),
        text: [result['description'], ...asArray(result['extra_snippets'])].map(plain).join('\n'),
        publishedAt: result['page_age'],
      }));
  },

  // Unknown keys get status 422, like malformed queries.
  explainRefusal: (status, code) =>
    explainRefusedKey(code?.startsWith('SUBSCRIPTION_TOKEN_') === true ? 401 : status),
};

/** Brave's filter rules: discard everything except these sites, or discard these sites. Subdomains belong to a site. */
function goggles(allowed: readonly Domain[], blocked: readonly Domain[]): string {
  const only = allowed.map(({ host }) => `$site=${host}`);
  const never = blocked.map(({ host }) => `$discard,site=${host}`);
  return [...(only.length > 0 ? ['$discard'] : []), ...only, ...never].join('\n');
}

/** The parameter `country` refuses some countries; the headers accept all. */
function locationHeaders({ city, country, region, timezone }: UserLocation): Record<string, string> {
  const headers: Record<string, string | undefined> = {
    'x-loc-city': city,
    'x-loc-country': country,
    'x-loc-state-name': region,
    'x-loc-timezone': timezone,
  };
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const ascii = (value ?? '').normalize('NFKD').replace(/[^\x20-\x7e]/g, '');
      return ascii.trim() === '' ? [] : [[name, ascii]];
    }),
  );
}

/** Texts are HTML fragments. */
function plain(text: unknown): string {
  return htmlToText(asString(text) ?? '');
}
