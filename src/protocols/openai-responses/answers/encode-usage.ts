// Token counts in the shape of the Responses API. Owns which class counts where; must not estimate or price.
import { cacheWriteTokens, inputTokens, outputTokens } from '../../../canonical/index.ts';
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { asVendorSaid } from '../../said-usage.ts';
import type { Usage } from '../../../canonical/index.ts';

const TOTALS = ['input_tokens', 'output_tokens', 'total_tokens'];

/**
 * Encodes usage (OpenAI's schema `ResponseUsage`): what was read from a cache is part of `input_tokens`, reasoning is
 * part of `output_tokens`. Classes that OpenAI's own answers leave out appear only when they are not 0.
 * An upstream of the same protocol is quoted.
 * @param costUsd as `usage.cost`, the name OpenRouter gave it; absent where it is not known
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
  const said = asVendorSaid(usage, 'openai-responses', encoded, TOTALS);
  return costUsd === undefined ? said : { ...said, cost: costUsd };
}
