// Encodes token counts as `usageMetadata`.
import { asNumber, asObject } from '../../../base/json/index.ts';
import { inputTokens, outputTokens } from '../../../canonical/index.ts';
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { Usage } from '../../../canonical/index.ts';

/**
 * Encodes usage (API reference, `UsageMetadata`, 2026-11). The prompt includes cached tokens; thoughts are outside the
 * candidates. Cache writes have no class and count as prompt. Gemini's own counts are passed unchanged.
 * @param costUsd for `cost`, an extension; undefined: unknown
 */
export function encodeUsage(usage: Usage, costUsd: number | undefined): JsonObject {
  const { input, output } = usage;
  const own = asObject(usage.raw);
  const isGeminis = own['promptTokenCount'] !== undefined || own['totalTokenCount'] !== undefined;
  const cost = costUsd === undefined ? {} : { cost: costUsd };
  // Gemini's own object is passed on, unless its counts contradict each other.
  if (isGeminis && !usage.inconsistent && !usage.estimated) return { ...own, ...cost };
  const all = inputTokens(usage);
  // Tokens from hosted tools have no canonical class, so Gemini's own number is used if there is one.
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
