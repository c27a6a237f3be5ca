// Citations in an answer. Owns the nested shape of Chat Completions and the shift of indices from a part to
// the whole content.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Annotation } from '../../../canonical/index.ts';

/**
 * Encodes one annotation (requirement of OpenAI's schema: only `url_citation` exists here).
 * @param offset length of the content before the annotation's part, in characters
 * @returns undefined for a form that this protocol does not have
 */
export function encodeAnnotation(annotation: Annotation, offset: number): JsonObject | undefined {
  if (annotation.type === 'other') {
    return annotation.source.protocol === 'openai-chat' ? annotation.source.raw : undefined;
  }
  const { start, end, title, url } = annotation;
  return {
    type: 'url_citation',
    url_citation: { start_index: start + offset, end_index: end + offset, title, url },
  };
}
