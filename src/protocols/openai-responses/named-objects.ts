// Objects of an OpenAI account that a Responses request names: stores of vectors, containers, skills and files of tools. Responses,
// conversations and prompts are the gateway's own. Ids in items of earlier turns are the vendor's words, and are left.
import type { CanonicalRequest } from '../../canonical/index.ts';
import { idsInTools, idsInUnknownParts, type NamedObject } from '../members/named-objects.ts';

/** The ids of objects in the vendor's account, but for those of media. */
export function namedObjects(request: CanonicalRequest): readonly NamedObject[] {
  return [...idsInTools(request), ...idsInUnknownParts(request.items)];
}
