// Encodes citations in the nested form of Chat Completions. Indices are shifted from the part to the whole content.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Annotation } from '../../../canonical/index.ts';

/**
 * Encodes an annotation. OpenAI's schema has only `url_citation`.
 * @param offset length of the content before the annotation's part, in characters
 * @returns undefined for other annotations
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
