// Token counts of Converse into the one usage vector. Knows nothing of prices or of events.
import type { JsonObject, Usage } from '../../canonical/index.ts';
import { asArray, asNumber, asObject, NO_USAGE } from '../../canonical/index.ts';

/**
 * The usage vector of a `usage` object. `inputTokens` leaves cached tokens out, `outputTokens` includes reasoning
 * (API reference `TokenUsage`; recorded 2026: the total is the sum of all four).
 * @param raw counts in tokens; missing ones are 0
 */
export function decodeUsage(raw: JsonObject): Usage {
  const written = count(raw['cacheWriteInputTokens']);
  let cacheWrite1h = 0;
  for (const detail of asArray(raw['cacheDetails']).map(asObject))
    if (detail['ttl'] === '1h') cacheWrite1h += count(detail['inputTokens']);
  return {
    ...NO_USAGE,
    input: {
      ...NO_USAGE.input,
      uncached: count(raw['inputTokens']),
      cacheRead: count(raw['cacheReadInputTokens']),
      cacheWrite5m: Math.max(written - cacheWrite1h, 0),
      cacheWrite1h,
    },
    output: { text: count(raw['outputTokens']), reasoning: 0, audio: 0 },
    raw,
  };
}

function count(value: unknown): number {
  return Math.max(asNumber(value) ?? 0, 0);
}
