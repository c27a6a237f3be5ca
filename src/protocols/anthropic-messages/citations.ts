// Citations in both directions. Owns the mark by which those that the gateway wrote for another model are known
// again. Knows nothing of blocks beyond their text.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { Annotation } from '../../canonical/index.ts';
import { asString, isJsonObject } from '../../base/json/index.ts';
import { citationUri } from '../citation-address.ts';

/**
 * `encrypted_index` of a citation that no Claude model made. Anthropic would refuse it, so it is taken out when the
 * client gives it back.
 */
const FOREIGN_INDEX = 'dragoman';

/** @param chars length of the cited block's text, all of which a citation vouches for */
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

/** Address of the page that is cited: one that Claude found, or one among the search results that the client gave it. */
function pageOf({ type, url, source }: JsonObject): string | undefined {
  if (type === 'web_search_result_location') return asString(url);
  const given = type === 'search_result_location' ? asString(source) : undefined;
  return given !== undefined && /^https?:\/\//i.test(given) ? given : undefined;
}

/**
 * The citation for a client: Claude's own as it came, pages of other models in the form of a search result.
 * @param text the text of the part, which the annotation's indices count
 * @returns undefined for a form that only another protocol has
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
