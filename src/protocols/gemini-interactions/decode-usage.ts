// `usage` of an interaction into the one usage vector. Knows nothing of prices or of events.
import type { JsonObject, JsonValue, Usage } from '../../canonical/index.ts';
import { asArray, asObject, asString } from '../../canonical/index.ts';
import { Conflicts, tokenCount, TokenRoom } from '../token-count.ts';

/** Tools of Google that are billed by the query. */
const BILLED: ReadonlySet<string> = new Set(['google_search']);

/**
 * The usage vector of a `Usage` object (API reference, 2026-11): cached tokens are part of the input; tokens that tools
 * fed in, and thoughts, stand beside input and output.
 * @param raw counts in tokens; missing ones are 0
 */
export function decodeUsage(raw: JsonObject): Usage {
  const conflicts = new Conflicts();
  const room = new TokenRoom(
    tokenCount(raw['total_input_tokens']) + tokenCount(raw['total_tool_use_tokens']),
    conflicts,
  );
  const cacheRead = room.take(tokenCount(raw['total_cached_tokens']), 'cache_read');
  const given = raw['input_tokens_by_modality'];
  const cached = raw['cached_tokens_by_modality'];
  const audio = room.takeRest(ofModality(given, 'audio') - ofModality(cached, 'audio'), 'audio');
  const image = room.takeRest(ofModality(given, 'image') - ofModality(cached, 'image'), 'image');
  const output = new TokenRoom(tokenCount(raw['total_output_tokens']), conflicts);
  const spoken = output.take(ofModality(raw['output_tokens_by_modality'], 'audio'), 'output_audio');
  const searches = searchesIn(raw['grounding_tool_count']);
  return {
    input: { uncached: room.left, cacheRead, cacheWrite5m: 0, cacheWrite1h: 0, audio, image },
    output: { text: output.left, reasoning: tokenCount(raw['total_thought_tokens']), audio: spoken },
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
    if (asString(entry['modality'])?.toLowerCase() === modality) tokens += tokenCount(entry['tokens']);
  }
  return tokens;
}

function searchesIn(counts: JsonValue | undefined): number {
  let searches = 0;
  for (const element of asArray(counts)) {
    const entry = asObject(element);
    if (BILLED.has(asString(entry['type']) ?? '')) searches += tokenCount(entry['count']);
  }
  return searches;
}
