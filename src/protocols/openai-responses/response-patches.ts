// What a relayed response object says in place of the upstream's own words. Must not know streams.
import type { JsonValue } from '../../canonical/index.ts';
import type { RelayFacts } from '../protocol.ts';
import { RESPONSE_PREFIX } from './encode-response-object.ts';

/** Members of a response object under the gateway's names. */
export function responsePatches(facts: RelayFacts): Record<string, JsonValue> {
  const set: Record<string, JsonValue> = { id: RESPONSE_PREFIX + facts.id, model: facts.model };
  if (facts.store !== undefined) set['store'] = facts.store;
  return set;
}
