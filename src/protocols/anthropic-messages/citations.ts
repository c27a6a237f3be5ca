// Converts citations in both directions. Citations that the gateway wrote for another model carry a mark, so that they
// can be recognized later.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { Annotation } from '../../canonical/index.ts';
import { asString, isJsonObject } from '../../base/json/index.ts';
import { citationUri } from '../content/citation-address.ts';

/**
 * `encrypted_index` of a citation that no Claude model created. Anthropic would refuse it, so it is removed when the
 * client returns it.
 */
const FOREIGN_INDEX = 'dragoman';

/** @param chars length of the cited block's text, all of which the citation covers */
export function decodeCitation(citation: JsonObject, chars: number): Annotation {
  const source = { protocol: 'anthropic-messages', raw: citation } as const;
  const url = pageOf(citation);
  if (url === undefined) return { type: 'other', source };
  return {
    type: 'url_citation',
    url: citationUri(url),
    title: asString(citation['title']) ?? '',
    start: 0,
    end: chars,
    source,
  };
}

/** Returns the URL of the cited page: one that Claude found, or one in the client's search results. */
function pageOf({ type, url, source }: JsonObject): string | undefined {
  if (type === 'web_search_result_location') return asString(url);
  const given = type === 'search_result_location' ? asString(source) : undefined;
  return given !== undefined && /^https?:\/\//i.test(given) ? given : undefined;
}

/**
 * Encodes a citation for a client: Claude's own unchanged, pages of other models as a search result.
 * @param text text of the part to which the annotation's indices refer
 * @returns undefined for annotations that only another protocol has
 */
export function encodeCitation(annotation: Annotation, text: string): JsonObject | undefined {
  if (annotation.source?.protocol === 'anthropic-messages') return annotation.source.raw;
  if (annotation.type === 'other') return undefined;
  const { url, title, start, end } = annotation;
  return {
    type: 'web_search_result_location',
    url,
    title,
    cited_text: text.slice(start, end),
    encrypted_index: FOREIGN_INDEX,
  };
}

/** True for a citation that the gateway wrote for a model of another family. */
export function isForeignCitation(citation: JsonValue): boolean {
  return isJsonObject(citation) && citation['encrypted_index'] === FOREIGN_INDEX;
}
