// Objects of an OpenAI account that a Responses request names: vector stores, containers, skills, and files of tools.
// Responses, conversations and prompts are the gateway's own. Ids in items of earlier turns came from the vendor and
// are not checked.
import type { CanonicalRequest } from '../../canonical/index.ts';
import { idsInTools, idsInUnknownParts, type NamedObject } from '../members/named-objects.ts';

/** Returns the ids of objects in the vendor's account, except media. */
export function namedObjects(request: CanonicalRequest): readonly NamedObject[] {
  return [...idsInTools(request), ...idsInUnknownParts(request.items)];
}
