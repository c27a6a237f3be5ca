// Objects of an OpenAI account that a Chat Completions request names: files in unknown parts, earlier audio, what tools of the
// vendor work with.
import type { CanonicalRequest } from '../../canonical/index.ts';
import { idsInTools, idsInUnknownParts, type NamedObject } from '../members/named-objects.ts';

/** The ids of objects in the vendor's account, but for those of media. */
export function namedObjects(request: CanonicalRequest): readonly NamedObject[] {
  // Answers here hold no audio that a client could have been given an id of.
  const isId = (member: string): boolean => member === 'id' || member === 'file_id';
  return [...idsInTools(request), ...idsInUnknownParts(request.items, isId)];
}
