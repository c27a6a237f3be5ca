// `usageMetadata` into the one usage vector. Knows nothing of prices or of events.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Usage } from '../../../canonical/index.ts';
import { type UsageNames, usageOf } from '../../google/usage.ts';

/**
 * Cached tokens are part of `promptTokenCount`; tokens that hosted tools fed in, and thoughts, stand beside the counts of
 * prompt and candidates (API reference, `UsageMetadata`, 2026-11, and recordings: 13 + 194 + 289 = 496 and
 * 29 + 12 + 69 = 110).
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
 * The usage vector of a `usageMetadata` object.
 * @param raw counts in tokens; missing ones are 0
 * @param searches queries that the hosted search ran
 */
export function decodeUsage(raw: JsonObject, searches: number): Usage {
  return usageOf(raw, NAMES, searches);
}
