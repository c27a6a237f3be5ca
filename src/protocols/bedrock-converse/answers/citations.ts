// Decodes citations of Converse into annotations.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Annotation } from '../../../canonical/index.ts';
import { asObject, asString } from '../../../base/json/index.ts';
import { citationUri } from '../../content/citation-address.ts';

/**
 * Returns the annotation of a citation: of a page if it names one, otherwise in its own form.
 * @param start character index in the text of its part
 * @param end end of the cited text
 */
export function decodeCitation(raw: JsonObject, start: number, end: number): Annotation {
  const source = { protocol: 'bedrock-converse', raw } as const;
  const url = asString(asObject(asObject(raw['location'])['web'])['url']);
  if (url === undefined) return { type: 'other', source };
  return {
    type: 'url_citation',
    url: citationUri(url),
    title: asString(raw['title']) ?? '',
    start,
    end,
    source,
  };
}
