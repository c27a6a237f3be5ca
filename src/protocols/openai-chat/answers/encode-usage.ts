// Encodes token counts in the form of Chat Completions.
import { cacheWriteTokens, inputTokens, outputTokens } from '../../../canonical/index.ts';
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { mergeVendorUsage } from '../../usage/vendor-usage.ts';
import type { Usage } from '../../../canonical/index.ts';

const TOTALS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

/**
 * Encodes usage (OpenAI's schema `CompletionUsage`). `prompt_tokens` includes cached tokens; `completion_tokens`
 * includes reasoning, which is omitted if it was not counted. Classes that OpenAI's own answers omit appear only if
 * they are not 0. Usage of an upstream of this protocol is passed on.
 * @param costUsd for `usage.cost`, OpenRouter's name; undefined: unknown
 */
export function encodeUsage(usage: Usage, costUsd: number | undefined): JsonObject {
  const { input, tools } = usage;
  const prompt = inputTokens(usage);
  const completion = outputTokens(usage);
  const promptDetails: MutableJsonObject = { cached_tokens: input.cacheRead, audio_tokens: input.audio };
  if (input.image > 0) promptDetails['image_tokens'] = input.image;
  if (cacheWriteTokens(usage) > 0) promptDetails['cache_write_tokens'] = cacheWriteTokens(usage);
  if (input.cacheWrite5m > 0) promptDetails['ephemeral_5m_input_tokens'] = input.cacheWrite5m;
  if (input.cacheWrite1h > 0) promptDetails['ephemeral_1h_input_tokens'] = input.cacheWrite1h;
  const searches = tools['web_search'];
  if (searches !== undefined && searches > 0) promptDetails['web_search'] = searches;
  const encoded: MutableJsonObject = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: promptDetails,
    // Present even if undefined, so that a vendor's null, which OpenAI's schema does not allow, is not copied.
    completion_tokens_details: completionDetails(usage),
  };
  const said = mergeVendorUsage(usage, 'openai-chat', encoded, TOTALS);
  return costUsd === undefined ? said : { ...said, cost: costUsd };
}

/**
 * Returns details of the completion. OpenRouter's provider for the AI SDK (3.1) rejects details without
 * `reasoning_tokens`, so they are omitted if reasoning was not counted and there is nothing else.
 */
function completionDetails(usage: Usage): JsonObject | undefined {
  const { output, acceptedPrediction, rejectedPrediction } = usage;
  const isCounted = usage.countsReasoning === true || output.reasoning > 0;
  if (!isCounted && output.audio + acceptedPrediction + rejectedPrediction === 0) return undefined;
  return {
    ...(isCounted && { reasoning_tokens: output.reasoning }),
    audio_tokens: output.audio,
    accepted_prediction_tokens: acceptedPrediction,
    rejected_prediction_tokens: rejectedPrediction,
  };
}
