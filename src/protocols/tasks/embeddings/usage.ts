// Usage of embeddings: input tokens only.
import { asNumber, isJsonObject, type JsonValue } from '../../../base/json/index.ts';
import { NO_USAGE, type Usage } from '../../../canonical/index.ts';
import { Conflicts, tokenCount } from '../../usage/token-count.ts';

/**
 * Returns the sum of the counts.
 * @param raw the upstream's own object; undefined: none
 * @returns null if a count is missing
 */
export function embeddingUsage(
  counts: readonly (JsonValue | undefined)[],
  raw: JsonValue | undefined,
): Usage | null {
  const conflicts = new Conflicts();
  let said = 0;
  for (const count of counts) {
    const tokens = asNumber(count);
    if (tokens === undefined) return null;
    said += Math.max(tokens, 0);
  }
  const uncached = tokenCount(said);
  if (!isJsonObject(raw) && said > uncached) conflicts.note('input', said, uncached);
  const inconsistent = conflicts.foundIn(isJsonObject(raw) ? raw : {});
  return { ...NO_USAGE, input: { ...NO_USAGE.input, uncached }, inconsistent, raw: raw ?? null };
}
