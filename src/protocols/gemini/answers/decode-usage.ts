// Decodes `usageMetadata` into the usage vector.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Usage } from '../../../canonical/index.ts';
import { type UsageNames, usageOf } from '../../google/usage.ts';

/**
 * `promptTokenCount` includes cached tokens. Tokens from hosted tools, and thoughts, are counted outside prompt and
 * candidates (API reference, `UsageMetadata`, 2026-11, and recordings: 13 + 194 + 289 = 496 and 29 + 12 + 69 = 110).
 */
const NAMES: UsageNames = {
  input: 'promptTokenCount',
  toolInput: 'toolUsePromptTokenCount',
  cached: 'cachedContentTokenCount',
  output: 'candidatesTokenCount',
  thoughts: 'thoughtsTokenCount',
  inputDetails: 'promptTokensDetails',
  cachedDetails: 'cacheTokensDetails',
  outputDetails: 'candidatesTokensDetails',
  count: 'tokenCount',
};

/**
 * Returns the usage vector of a `usageMetadata` object.
 * @param raw counts in tokens; missing ones are 0
 * @param searches queries of the hosted search
 */
export function decodeUsage(raw: JsonObject, searches: number): Usage {
  return usageOf(raw, NAMES, searches);
}
