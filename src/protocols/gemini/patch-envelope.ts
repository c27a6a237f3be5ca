// Members of a relayed answer or chunk that are replaced.
import type { JsonValue } from '../../base/json/index.ts';
import type { RelayFacts } from '../protocol.ts';

/** Returns the members of an answer or chunk with the gateway's names. */
export function envelopePatches(facts: RelayFacts): Record<string, JsonValue> {
  return { modelVersion: facts.model, responseId: facts.id };
}
