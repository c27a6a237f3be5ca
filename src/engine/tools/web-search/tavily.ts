// Tavily: encodes searches and decodes results (Tavily API reference, "Search" and "Errors"; read 2026-11).
import { asArray, asObject, asString } from '../../../base/json/index.ts';
import { explainRefusedKey, type SearchApi } from './search-api.ts';

/** Maximum results. */
const MOST_RESULTS = 20;

/**
 * Tavily requires the English name of a country from its own list, and refuses others. These are the countries with
 * unambiguous names; for others the location is omitted.
 */
const COUNTRIES: ReadonlySet<string> = new Set(
  (
    'AR AT AU BE BG BR CA CH CL CN CO CR CY DE DK EC EE EG ES FI FR GB GR HR HU ID IE IL IN IS IT JP KE ' +
    'LT LU LV MA MX MY NG NL NO NZ PE PH PK PL PT RO RS SA SE SG SI SK TH TN TW UA US UY VE ZA'
  ).split(' '),
);

/** Created on demand, because the runtime's tables of names take 3 MB. */
const englishName = (country: string): string | undefined =>
  new Intl.DisplayNames('en', { type: 'region' }).of(country)?.toLowerCase();

export const tavily: SearchApi = {
  name: 'tavily',
  address: 'https://api.tavily.com',

  encodeSearch({ query, allowed, blocked, contextSize, location, results }, key) {
    const country = location.country?.toUpperCase() ?? '';
    return {
      path: '/search',
      headers: { authorization: `Bearer ${key?.reveal() ?? ''}` },
      json: {
        query,
        max_results: Math.min(results, MOST_RESULTS),
        // `advanced` costs twice as much; raw page content is free.
        search_depth: 'basic',
        include_raw_content: contextSize === 'high' ? 'text' : false,
        include_domains: allowed.map(({ host }) => host),
        exclude_domains: blocked.map(({ host }) => host),
        country: COUNTRIES.has(country) ? englishName(country) : undefined,
      },
    };
  },

  decodeResults(answer) {
    const results = answer['results'];
    if (!Array.isArray(results)) return undefined;
    return asArray(results)
      .map(asObject)
      .map(({ url, title, content, raw_content: page, published_date: publishedAt }) => ({
        url,
        title,
        text: [content, page].flatMap((text) => asString(text) ?? []).join('\n\n'),
        publishedAt,
      }));
  },

  explainRefusal: (status) =>
    status === 432 || status === 433
      ? 'the limit of its plan is reached; the operator must raise it'
      : explainRefusedKey(status),
};
