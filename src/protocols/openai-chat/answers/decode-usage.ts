// Decodes token counts of Chat Completions servers into disjoint classes. Whether a class is inside or outside a sum is
// inferred from `total_tokens`, never from the provider's name.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { Usage } from '../../../canonical/index.ts';
import { asObject, isJsonObject } from '../../../base/json/index.ts';
import { Conflicts, tokenCount, TokenRoom, COUNTS, isCounted } from '../../usage/token-count.ts';

/**
 * Returns the canonical usage of a `usage` object. Missing counts are 0; the classes add up to the upstream's own
 * totals.
 * OpenAI counts cached, cache-write and audio tokens inside `prompt_tokens`, and reasoning and audio inside
 * `completion_tokens` (API reference, "usage"). xAI's grok-3-mini counts reasoning outside (prompt 10, completion 35,
 * reasoning 375, total 420). Google's compatible endpoint includes thoughts only in the total (35 + 12 → 109). Both
 * were recorded in 2025. Mistral counts audio input outside the prompt (prompt 5, audio 375, completion 20, total 400;
 * recorded 2026).
 * Grok on Azure counts more cached tokens than the prompt has, and the total includes none of them (prompt 298, cached
 * 387, completion 14, total 312; recorded 2026). There the total wins, and the contradiction is noted.
 * @param raw the upstream's object
 */
export function decodeUsage(raw: JsonValue): Usage {
  const usage = asObject(raw);
  const promptDetails = details(
    usage['prompt_tokens_details'],
    usage['prompt_token_details'],
    usage['input_tokens_details'],
  );
  const outputDetails = details(
    usage['completion_tokens_details'],
    usage['completion_token_details'],
    usage['output_tokens_details'],
  );

  const prompt = tokenCount(usage['prompt_tokens'] ?? usage['input_tokens']);
  const completion = tokenCount(usage['completion_tokens'] ?? usage['output_tokens']);
  const total = tokenCount(usage['total_tokens']);

  const cacheRead = first(
    promptDetails['cached_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['cache_read_input_tokens'],
    usage['cached_tokens'],
    usage['num_cached_tokens'],
  );
  const writes = asObject(usage['cache_creation']);
  const cacheWrite1h = tokenCount(writes['ephemeral_1h_input_tokens']);
  const cacheWrites = first(
    promptDetails['cache_write_tokens'],
    promptDetails['cache_creation_tokens'],
    usage['cache_creation_input_tokens'],
  );
  const cacheWrite5m = Math.max(cacheWrites - cacheWrite1h, 0);

  const promptAudio = tokenCount(promptDetails['audio_tokens']);
  const promptImage = tokenCount(promptDetails['image_tokens']);
  const reportedReasoning = first(outputDetails['reasoning_tokens'], usage['reasoning_tokens']);
  const conflicts = new Conflicts();

  const cached = cacheRead + cacheWrite5m + cacheWrite1h;
  let excess = total - prompt - completion;
  if (total > 0 && excess < 0) conflicts.note('total', total, prompt + completion);
  excess = Math.max(0, excess);
  // The rest of the total, beyond prompt and completion, belongs to reasoning that the completion cannot contain, then
  // to prompt classes outside of `prompt_tokens`.
  let spare = reportedReasoning > completion ? excess - reportedReasoning : excess;
  let input = prompt;
  const isOutside = (count: number): boolean =>
    count > 0 && (count === spare || (count > prompt && count <= spare));
  // A bridge from Anthropic may count cache tokens outside `prompt_tokens`. Without a total, only their size shows it.
  if (isOutside(cached) || (total === 0 && cached > prompt)) {
    input += cached;
    excess = Math.max(0, excess - cached);
    spare -= cached;
  }
  for (const media of [promptAudio, promptImage]) {
    if (!isOutside(media)) continue;
    input += media;
    excess -= media;
    spare -= media;
  }
  const room = new TokenRoom(input, conflicts);
  const takenRead = room.take(cacheRead, 'cache_read');
  const taken5m = room.take(cacheWrite5m, 'cache_write_5m');
  const taken1h = room.take(cacheWrite1h, 'cache_write_1h');
  const takenAudio = room.takeRest(promptAudio, 'audio');
  const takenImage = room.takeRest(promptImage, 'image');

  // Reasoning that exceeds the completion must be outside of it if there is no total.
  if (total === 0 && reportedReasoning > completion) excess = reportedReasoning;
  const out = new TokenRoom(completion + excess, conflicts);
  const reasoning = out.take(Math.max(reportedReasoning, excess), 'reasoning');
  const audio = out.take(tokenCount(outputDetails['audio_tokens']), 'output_audio');

  return {
    input: {
      uncached: room.left,
      cacheRead: takenRead,
      cacheWrite5m: taken5m,
      cacheWrite1h: taken1h,
      audio: takenAudio,
      image: takenImage,
    },
    output: { text: out.left, reasoning, audio },
    ...(isCounted(outputDetails['reasoning_tokens'] ?? usage['reasoning_tokens']) && COUNTS),
    tools: hostedCalls(usage),
    acceptedPrediction: tokenCount(outputDetails['accepted_prediction_tokens']),
    rejectedPrediction: tokenCount(outputDetails['rejected_prediction_tokens']),
    estimated: false,
    inconsistent: conflicts.foundIn(usage),
    protocol: 'openai-chat',
    raw,
  };
}

/**
 * Returns the billed searches: OpenRouter's `server_tool_use_details`, Anthropic's `server_tool_use`, Perplexity's
 * count.
 */
function hostedCalls(usage: {
  readonly [key: string]: JsonValue | undefined;
}): Readonly<Record<string, number>> {
  const server = details(usage['server_tool_use_details'], usage['server_tool_use']);
  const searches = first(server['web_search_requests'], usage['num_search_queries']);
  return searches > 0 ? { web_search: searches } : {};
}

function details(...candidates: readonly (JsonValue | undefined)[]): {
  readonly [key: string]: JsonValue | undefined;
} {
  for (const candidate of candidates) if (isJsonObject(candidate)) return candidate;
  return NONE;
}

const NONE: JsonObject = Object.freeze({});

/** Returns the first count that is not 0. */
function first(...candidates: readonly (JsonValue | undefined)[]): number {
  for (const candidate of candidates) {
    const value = tokenCount(candidate);
    if (value > 0) return value;
  }
  return 0;
}
