// Decodes token counts of Converse into the usage vector.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Usage } from '../../../canonical/index.ts';
import { asArray, asObject } from '../../../base/json/index.ts';
import { NO_USAGE } from '../../../canonical/index.ts';
import { Conflicts, tokenCount, TokenRoom } from '../../usage/token-count.ts';

/**
 * Returns the usage vector of a `usage` object. `inputTokens` excludes cached tokens, and `outputTokens` includes
 * reasoning (API reference `TokenUsage`; recorded 2026: the total is the sum of all four).
 * @param raw counts in tokens; missing ones are 0
 */
export function decodeUsage(raw: JsonObject): Usage {
  const conflicts = new Conflicts();
  const written = new TokenRoom(tokenCount(raw['cacheWriteInputTokens']), conflicts);
  let forAnHour = 0;
  for (const detail of asArray(raw['cacheDetails']).map(asObject))
    if (detail['ttl'] === '1h') forAnHour += tokenCount(detail['inputTokens']);
  const cacheWrite1h = written.take(forAnHour, 'cache_write_1h');
  return {
    ...NO_USAGE,
    input: {
      ...NO_USAGE.input,
      uncached: tokenCount(raw['inputTokens']),
      cacheRead: tokenCount(raw['cacheReadInputTokens']),
      cacheWrite5m: written.left,
      cacheWrite1h,
    },
    output: { text: tokenCount(raw['outputTokens']), reasoning: 0, audio: 0 },
    inconsistent: conflicts.foundIn(raw),
    raw,
  };
}
