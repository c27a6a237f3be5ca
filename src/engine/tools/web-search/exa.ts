// Exa: encodes searches and decodes results (Exa API reference, "Search" and "Error codes"; read 2026-11).
import { asArray, asObject } from '../../../base/json/index.ts';
import { explainRefusedKey, type SearchApi } from './search-api.ts';

export const exa: SearchApi = {
  name: 'exa',
  address: 'https://api.exa.ai',

  encodeSearch({ query, allowed, blocked, location, results, charsPerResult }, key) {
    return {
      path: '/search',
      headers: { 'x-api-key': key?.reveal() ?? '' },
      json: {
        query,
        type: 'auto',
        numResults: results,
        includeDomains: allowed.length > 0 ? allowed.map(({ host }) => host) : undefined,
        excludeDomains: blocked.length > 0 ? blocked.map(({ host }) => host) : undefined,
        userLocation: /^[a-z]{2}$/i.test(location.country ?? '')
          ? location.country?.toUpperCase()
          : undefined,
        contents: { text: { maxCharacters: charsPerResult } },
      },
    };
  },

  decodeResults(answer) {
    const results = answer['results'];
    if (!Array.isArray(results)) return undefined;
    return asArray(results)
      .map(asObject)
      .map(({ url, title, text, publishedDate }) => ({ url, title, text, publishedAt: publishedDate }));
  },

  explainRefusal: (status) =>
    status === 402 ? 'its account is out of credit; the operator must top it up' : explainRefusedKey(status),
};
