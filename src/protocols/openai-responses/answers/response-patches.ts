// Members of a relayed response object that are replaced.
import type { JsonValue } from '../../../base/json/index.ts';
import type { RelayFacts } from '../../protocol.ts';
import { RESPONSE_PREFIX } from './encode-response-object.ts';

/** Returns the members of a response object with the gateway's names. */
export function responsePatches(facts: RelayFacts): Record<string, JsonValue> {
  const set: Record<string, JsonValue> = { id: RESPONSE_PREFIX + facts.id, model: facts.model };
  if (facts.store !== undefined) set['store'] = facts.store;
  if (facts.isBackground === true) set['background'] = true;
  return set;
}
