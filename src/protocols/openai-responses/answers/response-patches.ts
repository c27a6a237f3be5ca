// Members of a relayed response object that replace the upstream's own words. Must not know streams.
import type { JsonValue } from '../../../base/json/index.ts';
import type { RelayFacts } from '../../protocol.ts';
import { RESPONSE_PREFIX } from './encode-response-object.ts';

/** Members of a response object under the gateway's names. */
export function responsePatches(facts: RelayFacts): Record<string, JsonValue> {
  const set: Record<string, JsonValue> = { id: RESPONSE_PREFIX + facts.id, model: facts.model };
  if (facts.store !== undefined) set['store'] = facts.store;
  if (facts.isBackground === true) set['background'] = true;
  return set;
}
