// Objects of an OpenAI account that a Chat Completions request names: files in unknown parts, earlier audio, and
// objects of hosted tools.
import type { CanonicalRequest } from '../../canonical/index.ts';
import { idsInTools, idsInUnknownParts, type NamedObject } from '../members/named-objects.ts';

/** Returns the ids of objects in the vendor's account, except media. */
export function namedObjects(request: CanonicalRequest): readonly NamedObject[] {
  // The gateway never returns audio with an id, so audio ids count as the vendor's.
  const isId = (member: string): boolean => member === 'id' || member === 'file_id';
  return [...idsInTools(request), ...idsInUnknownParts(request.items, isId)];
}
