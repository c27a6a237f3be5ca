// Token counts in the shape of Chat Completions. Owns which class counts where; must not estimate or price.
import { cacheWriteTokens, inputTokens, outputTokens } from '../../../canonical/index.ts';
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { asVendorSaid } from '../../said-usage.ts';
import type { Usage } from '../../../canonical/index.ts';

const TOTALS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

/**
 * Encodes usage (OpenAI's schema `CompletionUsage`): cached tokens are part of `prompt_tokens`, reasoning is
 * part of `completion_tokens`, and absent where nobody has counted it. Classes that OpenAI's own answers leave out appear only when they are not 0.
 * An upstream of the same protocol is quoted.
 * @param costUsd as `usage.cost`, the name OpenRouter gave it; absent where it is not known
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
    // There even where it is undefined: a vendor's null, which OpenAI's schema does not know, then stays out.
    completion_tokens_details: completionDetails(usage),
  };
  const said = asVendorSaid(usage, 'openai-chat', encoded, TOTALS);
  return costUsd === undefined ? said : { ...said, cost: costUsd };
}

/**
 * Details of the completion. OpenRouter's provider for the AI SDK (3.1) refuses an answer that has them without
 * `reasoning_tokens`, so there are none where nobody has counted reasoning and nothing else is to be told.
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
