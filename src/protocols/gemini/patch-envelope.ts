// The envelope of a relayed answer or chunk. Every other byte of it is the upstream's.
import { editMembers } from '../json-splice.ts';
import type { RelayFacts } from '../protocol.ts';

/** The answer, or a piece of one, under the gateway's names. @param json its text, or its bytes as a byte string */
export function patchEnvelope(json: string, facts: RelayFacts): string {
  return editMembers(json, { set: { modelVersion: facts.model, responseId: facts.id } });
}
