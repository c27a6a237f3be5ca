// Decodes `usage` of an interaction into the usage vector.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { Usage } from '../../../canonical/index.ts';
import { asArray, asObject, asString } from '../../../base/json/index.ts';
import { type UsageNames, usageOf } from '../../google/usage.ts';
import { tokenCount } from '../../usage/token-count.ts';

/** Google's tools that are billed per query. */
const BILLED: ReadonlySet<string> = new Set(['google_search']);

/**
 * The input includes cached tokens. Tokens from tools, and thoughts, are counted outside input and output (API
 * reference, `Usage`, 2026-11).
 */
const NAMES: UsageNames = {
  input: 'total_input_tokens',
  toolInput: 'total_tool_use_tokens',
  cached: 'total_cached_tokens',
  output: 'total_output_tokens',
  thoughts: 'total_thought_tokens',
  inputDetails: 'input_tokens_by_modality',
  cachedDetails: 'cached_tokens_by_modality',
  outputDetails: 'output_tokens_by_modality',
  count: 'tokens',
};

/** Returns the usage vector of a `Usage` object. @param raw counts in tokens; missing ones are 0 */
export function decodeUsage(raw: JsonObject): Usage {
  return usageOf(raw, NAMES, searchesIn(raw['grounding_tool_count']));
}

function searchesIn(counts: JsonValue | undefined): number {
  let searches = 0;
  for (const element of asArray(counts)) {
    const entry = asObject(element);
    if (BILLED.has(asString(entry['type']) ?? '')) searches += tokenCount(entry['count']);
  }
  return searches;
}
