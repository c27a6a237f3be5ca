// Token counts of a Responses answer as the canonical vector. Knows nothing of prices.
import type { JsonValue, Usage } from '../../canonical/index.ts';
import { asNumber, asObject, isJsonObject, NO_USAGE } from '../../canonical/index.ts';
import { tokenCount } from '../token-count.ts';

/** Calls of hosted tools that the answer itself shows. */
export interface CountedCalls {
  webSearch: number;
  fileSearch: number;
}

/**
 * Reads `response.usage`.
 *
 * `input_tokens` includes what was read from and written to the prompt cache, `output_tokens` includes reasoning
 * (OpenAI API reference, "The response object", and every recorded answer, checked 2026-11); the canonical members
 * are a partition, so the parts are taken out of the totals. OpenAI's cache lifetimes are 30 minutes and 12 hours:
 * the short one counts as the vector's 5 minute class, the long one as its 1 hour class.
 *
 * @param raw the `usage` member
 * @param calls hosted calls among the output items; used where the usage object has no counts of its own
 * @returns undefined when there is no usage object
 */
export function decodeUsage(raw: JsonValue | undefined, calls: CountedCalls): Usage | undefined {
  if (!isJsonObject(raw)) return undefined;
  const inputDetails = asObject(raw['input_tokens_details']);
  const cacheRead = tokenCount(inputDetails['cached_tokens']);
  const written = tokenCount(inputDetails['cache_write_tokens']);
  const writtenLong = Math.min(
    written,
    tokenCount(asObject(inputDetails['cache_write_tokens_details'])['ttl_12h_tokens']),
  );
  const output = tokenCount(raw['output_tokens']);
  const reasoning = Math.min(output, tokenCount(asObject(raw['output_tokens_details'])['reasoning_tokens']));
  return {
    ...NO_USAGE,
    input: {
      ...NO_USAGE.input,
      uncached: Math.max(0, tokenCount(raw['input_tokens']) - cacheRead - written),
      cacheRead,
      cacheWrite5m: written - writtenLong,
      cacheWrite1h: writtenLong,
    },
    output: { ...NO_USAGE.output, text: output - reasoning, reasoning },
    tools: hostedCalls(raw, inputDetails, calls),
    raw,
  };
}

/** Counts by tool: those the upstream bills by if it says so, else what the output items show. */
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
