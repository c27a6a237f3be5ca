// Token counts in the shape of `usageMetadata`. Owns which class counts where; must not estimate or price.
import { asNumber, asObject } from '../../../base/json/index.ts';
import { inputTokens, outputTokens } from '../../../canonical/index.ts';
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { Usage } from '../../../canonical/index.ts';

/**
 * Encodes usage (API reference, `UsageMetadata`, 2026-11): cached tokens are part of the prompt, thoughts stand beside
 * the candidates. Cache writes have no class here: they are part of the prompt. What Gemini itself counted passes as it
 * came.
 * @param costUsd as `cost`, beside Google's members; absent where it is not known
 */
export function encodeUsage(usage: Usage, costUsd: number | undefined): JsonObject {
  const { input, output } = usage;
  const own = asObject(usage.raw);
  const isGeminis = own['promptTokenCount'] !== undefined || own['totalTokenCount'] !== undefined;
  const cost = costUsd === undefined ? {} : { cost: costUsd };
  // Gemini's own words pass, but for counts that contradict each other.
  if (isGeminis && !usage.inconsistent && !usage.estimated) return { ...own, ...cost };
  const all = inputTokens(usage);
  // Tokens that hosted tools fed in are no class of ours; where Gemini itself counted, its own number is at hand.
  const fed = Math.min(asNumber(own['toolUsePromptTokenCount']) ?? 0, all);
  const metadata: MutableJsonObject = { ...(isGeminis ? own : {}), promptTokenCount: all - fed };
  if (input.cacheRead > 0) metadata['cachedContentTokenCount'] = input.cacheRead;
  metadata['candidatesTokenCount'] = output.text + output.audio;
  if (fed > 0) metadata['toolUsePromptTokenCount'] = fed;
  if (output.reasoning > 0) metadata['thoughtsTokenCount'] = output.reasoning;
  metadata['totalTokenCount'] = all + outputTokens(usage);
  const text = all - fed - input.audio - input.image;
  metadata['promptTokensDetails'] = details(text, input.audio, input.image);
  if (output.audio > 0) metadata['candidatesTokensDetails'] = details(output.text, output.audio, 0);
  return { ...metadata, ...cost };
}

function details(text: number, audio: number, image: number): readonly JsonObject[] {
  const counts = { TEXT: text, AUDIO: audio, IMAGE: image };
  return Object.entries(counts)
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
