// Decodes token counts of a Responses answer into the canonical vector.
import type { JsonValue } from '../../../base/json/index.ts';
import type { Usage } from '../../../canonical/index.ts';
import { asNumber, asObject, isJsonObject } from '../../../base/json/index.ts';
import { NO_USAGE } from '../../../canonical/index.ts';
import { Conflicts, tokenCount, TokenRoom, COUNTS, isCounted } from '../../usage/token-count.ts';

/** Hosted tool calls that the answer itself contains. */
export interface CountedCalls {
  webSearch: number;
  fileSearch: number;
}

/**
 * Decodes `response.usage`.
 * `input_tokens` includes cache reads and writes, and `output_tokens` includes reasoning (OpenAI API reference, "The
 * response object", and every recorded answer, checked 2026-11). The canonical classes are disjoint, so the parts are
 * subtracted from the totals. OpenAI's cache lifetimes are 30 minutes and 12 hours: they count as the vector's 5-minute
 * and 1-hour class.
 *
 * @param raw the `usage` member
 * @param calls hosted calls among the output items, used if the usage object has no counts of its own
 * @returns undefined without a usage object
 */
export function decodeUsage(raw: JsonValue | undefined, calls: CountedCalls): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  const inputDetails = asObject(raw['input_tokens_details']);
  const conflicts = new Conflicts();
  const input = new TokenRoom(tokenCount(raw['input_tokens']), conflicts);
  const cacheRead = input.take(tokenCount(inputDetails['cached_tokens']), 'cache_read');
  const written = new TokenRoom(
    input.take(tokenCount(inputDetails['cache_write_tokens']), 'cache_write'),
    conflicts,
  );
  const { ttl_12h_tokens: long } = asObject(inputDetails['cache_write_tokens_details']);
  const cacheWrite1h = written.take(tokenCount(long), 'cache_write_1h');
  const output = new TokenRoom(tokenCount(raw['output_tokens']), conflicts);
  const reasoning = output.take(
    tokenCount(asObject(raw['output_tokens_details'])['reasoning_tokens']),
    'reasoning',
  );
  return {
    ...NO_USAGE,
    input: {
      ...NO_USAGE.input,
      uncached: input.left,
      cacheRead,
      cacheWrite5m: written.left,
      cacheWrite1h,
    },
    output: { ...NO_USAGE.output, text: output.left, reasoning },
    ...(isCounted(asObject(raw['output_tokens_details'])['reasoning_tokens']) && COUNTS),
    tools: hostedCalls(raw, inputDetails, calls),
    inconsistent: conflicts.foundIn(raw),
    protocol: 'openai-responses',
    raw,
  };
}

/** Returns calls by tool: those that the upstream bills, if stated, otherwise those among the output items. */
function hostedCalls(
  usage: Readonly<Record<string, JsonValue | undefined>>,
  inputDetails: Readonly<Record<string, JsonValue | undefined>>,
  calls: CountedCalls,
): Record<string, number> {
  const tools: Record<string, number> = {};
  const billed = usage['server_side_tool_usage_details'];
  if (isJsonObject(billed)) {
    for (const key in billed) {
      const times = tokenCount(billed[key]);
      if (times > 0) tools[key.endsWith('_calls') ? key.slice(0, -'_calls'.length) : key] = times;
    }
    return tools;
  }
  const searches = asNumber(inputDetails['web_search']) ?? calls.webSearch;
  if (searches > 0) tools['web_search'] = searches;
  if (calls.fileSearch > 0) tools['file_search'] = calls.fileSearch;
  return tools;
}
