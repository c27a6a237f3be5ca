// `usageMetadata` into the one usage vector. Knows nothing of prices or of events.
import type { JsonObject, JsonValue, Usage } from '../../canonical/index.ts';
import { asArray, asObject } from '../../canonical/index.ts';
import { Conflicts, tokenCount, TokenRoom } from '../token-count.ts';

/**
 * The usage vector of a `usageMetadata` object. Cached tokens are part of `promptTokenCount`; tokens that hosted tools
 * fed in, and thoughts, stand beside the counts of prompt and candidates (API reference, `UsageMetadata`, 2026-11, and
 * recordings: 13 + 194 + 289 = 496 and 29 + 12 + 69 = 110).
 * @param raw counts in tokens; missing ones are 0
 * @param searches queries that the hosted search ran
 */
export function decodeUsage(raw: JsonObject, searches: number): Usage {
  const conflicts = new Conflicts();
  const room = new TokenRoom(
    tokenCount(raw['promptTokenCount']) + tokenCount(raw['toolUsePromptTokenCount']),
    conflicts,
  );
  const cacheRead = room.take(tokenCount(raw['cachedContentTokenCount']), 'cache_read');
  const given = raw['promptTokensDetails'];
  const cached = raw['cacheTokensDetails'];
  const audio = room.takeRest(ofModality(given, 'AUDIO') - ofModality(cached, 'AUDIO'), 'audio');
  const image = room.takeRest(ofModality(given, 'IMAGE') - ofModality(cached, 'IMAGE'), 'image');

  const candidates = new TokenRoom(tokenCount(raw['candidatesTokenCount']), conflicts);
  const spoken = candidates.take(ofModality(raw['candidatesTokensDetails'], 'AUDIO'), 'output_audio');
  return {
    input: { uncached: room.left, cacheRead, cacheWrite5m: 0, cacheWrite1h: 0, audio, image },
    output: { text: candidates.left, reasoning: tokenCount(raw['thoughtsTokenCount']), audio: spoken },
    tools: searches > 0 ? { web_search: searches } : {},
    acceptedPrediction: 0,
    rejectedPrediction: 0,
    estimated: false,
    ...conflicts.member(),
    raw,
  };
}

function ofModality(details: JsonValue | undefined, modality: string): number {
  let tokens = 0;
  for (const element of asArray(details)) {
    const entry = asObject(element);
    if (entry['modality'] === modality) tokens += tokenCount(entry['tokenCount']);
  }
  return tokens;
}
