// The usage vector as Messages clients know it. Must not know events; totals of input leave cached tokens out.
import type { JsonObject, Usage } from '../../canonical/index.ts';
import { asObject, asString, cacheWriteTokens, outputTokens } from '../../canonical/index.ts';

/** Facts about the answer that Anthropic puts beside the counts. */
const FACTS = ['service_tier', 'inference_geo', 'speed'] as const;

/**
 * A `usage` object (SDK type `Usage`). Audio and images count as plain input: the protocol has no class for them.
 * @param costUsd as `cost`; absent where it is not known
 */
export function encodeUsage(usage: Usage, costUsd?: number): JsonObject {
  const { input, output, tools } = usage;
  const raw = asObject(usage.raw);
  const facts: Record<string, string> = {};
  for (const name of FACTS) {
    const fact = asString(raw[name]);
    if (fact !== undefined) facts[name] = fact;
  }
  const searches = tools['web_search'] ?? 0;
  const fetches = tools['web_fetch'] ?? 0;
  return {
    input_tokens: input.uncached + input.audio + input.image,
    cache_creation_input_tokens: cacheWriteTokens(usage),
    cache_read_input_tokens: input.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: input.cacheWrite5m,
      ephemeral_1h_input_tokens: input.cacheWrite1h,
    },
    output_tokens: outputTokens(usage),
    ...(output.reasoning > 0 ? { output_tokens_details: { thinking_tokens: output.reasoning } } : {}),
    ...(searches + fetches > 0
      ? { server_tool_use: { web_search_requests: searches, web_fetch_requests: fetches } }
      : {}),
    ...facts,
    ...(costUsd === undefined ? {} : { cost: costUsd }),
  };
}
