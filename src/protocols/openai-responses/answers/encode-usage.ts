// Encodes token counts for the Responses API.
import { cacheWriteTokens, inputTokens, outputTokens } from '../../../canonical/index.ts';
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { mergeVendorUsage } from '../../usage/vendor-usage.ts';
import type { Usage } from '../../../canonical/index.ts';

const TOTALS = ['input_tokens', 'output_tokens', 'total_tokens'];

/**
 * Encodes usage (OpenAI's schema `ResponseUsage`). `input_tokens` includes cache reads, and `output_tokens` includes
 * reasoning. Classes that OpenAI's own answers omit appear only if they are not 0. Usage of an upstream of this
 * protocol is passed on.
 * @param costUsd for `usage.cost`, OpenRouter's name; undefined: unknown
 */
export function encodeUsage(usage: Usage, costUsd: number | undefined): JsonObject {
  const { input, output, tools } = usage;
  const inputAll = inputTokens(usage);
  const outputAll = outputTokens(usage);
  const details: MutableJsonObject = {
    cached_tokens: input.cacheRead,
    cache_write_tokens: cacheWriteTokens(usage),
  };
  if (input.cacheWrite1h > 0) details['cache_write_tokens_details'] = { ttl_12h_tokens: input.cacheWrite1h };
  if (input.audio > 0) details['audio_tokens'] = input.audio;
  if (input.image > 0) details['image_tokens'] = input.image;
  const searches = tools['web_search'];
  if (searches !== undefined && searches > 0) details['web_search'] = searches;
  const encoded = {
    input_tokens: inputAll,
    input_tokens_details: details,
    output_tokens: outputAll,
    output_tokens_details: { reasoning_tokens: output.reasoning },
    total_tokens: inputAll + outputAll,
  };
  const said = mergeVendorUsage(usage, 'openai-responses', encoded, TOTALS);
  return costUsd === undefined ? said : { ...said, cost: costUsd };
}
