// Token counts in the shape of Chat Completions. Owns which class counts where; must not estimate or price.
import { cacheWriteTokens, inputTokens, outputTokens } from '../../canonical/index.ts';
import type { JsonObject, MutableJsonObject, Usage } from '../../canonical/index.ts';

/**
 * Encodes usage (OpenAI's schema `CompletionUsage`): cached tokens are part of `prompt_tokens`, reasoning is
 * part of `completion_tokens`. Classes that OpenAI's own answers leave out appear only when they are not 0.
 * @param costUsd as `usage.cost`, the name OpenRouter gave it; absent where it is not known
 */
export function encodeUsage(usage: Usage, costUsd: number | undefined): JsonObject {
  const { input, output, tools } = usage;
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
    completion_tokens_details: {
      reasoning_tokens: output.reasoning,
      audio_tokens: output.audio,
      accepted_prediction_tokens: usage.acceptedPrediction,
      rejected_prediction_tokens: usage.rejectedPrediction,
    },
  };
  if (costUsd !== undefined) encoded['cost'] = costUsd;
  return encoded;
}
