// Decodes token counts of the Messages API into the usage vector.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { Usage } from '../../../canonical/index.ts';
import { asObject } from '../../../base/json/index.ts';
import { Conflicts, tokenCount, TokenRoom, COUNTS, isCounted } from '../../usage/token-count.ts';

/**
 * Merges a newer usage object over an older one. `message_delta` repeats only some members of `message_start`, with
 * cumulative values. Null and absent members keep the older value.
 */
export function mergeUsage(older: JsonObject, newer: JsonObject): JsonObject {
  const merged: MutableJsonObject = { ...older };
  for (const key in newer) {
    const value = newer[key];
    if (value !== null && value !== undefined) merged[key] = value;
  }
  return merged;
}

/**
 * Returns the usage vector of a `usage` object. `input_tokens` excludes cached tokens, and `output_tokens` includes
 * thinking (SDK types `Usage`, `OutputTokensDetails`). Without `output_tokens_details`, all output counts as text.
 * @param raw counts in tokens; missing ones are 0
 */
export function decodeUsage(raw: JsonObject): Usage {
  const creation = asObject(raw['cache_creation']);
  const cacheWrite1h = tokenCount(creation['ephemeral_1h_input_tokens']);
  // A stream's last usage updates only the total of cache writes, so the total wins over its parts.
  const cacheWrite5m = Math.max(
    tokenCount(creation['ephemeral_5m_input_tokens']),
    tokenCount(raw['cache_creation_input_tokens']) - cacheWrite1h,
  );
  const conflicts = new Conflicts();
  const output = new TokenRoom(tokenCount(raw['output_tokens']), conflicts);
  const reasoning = output.take(
    tokenCount(asObject(raw['output_tokens_details'])['thinking_tokens']),
    'reasoning',
  );
  return {
    input: {
      uncached: tokenCount(raw['input_tokens']),
      cacheRead: tokenCount(raw['cache_read_input_tokens']),
      cacheWrite5m,
      cacheWrite1h,
      audio: 0,
      image: 0,
    },
    output: { text: output.left, reasoning, audio: 0 },
    ...(isCounted(asObject(raw['output_tokens_details'])['thinking_tokens']) && COUNTS),
    tools: toolCounts(asObject(raw['server_tool_use'])),
    acceptedPrediction: 0,
    rejectedPrediction: 0,
    estimated: false,
    inconsistent: conflicts.foundIn(raw),
    protocol: 'anthropic-messages',
    raw,
  };
}

/** Converts `{web_search_requests: 2}` to `{web_search: 2}`, without unused tools. */
function toolCounts(raw: JsonObject): Readonly<Record<string, number>> {
  const tools: Record<string, number> = {};
  for (const key in raw) {
    const calls = tokenCount(raw[key]);
    if (calls > 0) tools[key.endsWith('_requests') ? key.slice(0, -'_requests'.length) : key] = calls;
  }
  return tools;
}
