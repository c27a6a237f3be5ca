// The envelope of a relayed answer or chunk. Every other byte of it is the upstream's.
import type { JsonValue } from '../../base/json/index.ts';
import type { RelayFacts } from '../protocol.ts';

/** Members of an answer, or of a piece of one, under the gateway's names. */
export function envelopePatches(facts: RelayFacts): Record<string, JsonValue> {
  return { modelVersion: facts.model, responseId: facts.id };
}
