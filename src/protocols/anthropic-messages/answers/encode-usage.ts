// The usage vector as Messages clients know it. Must not know events; totals of input leave cached tokens out.
import type { JsonObject } from '../../../base/json/index.ts';
import { asVendorSaid } from '../../said-usage.ts';
import type { Usage } from '../../../canonical/index.ts';
import { asObject, asString } from '../../../base/json/index.ts';
import { cacheWriteTokens, outputTokens } from '../../../canonical/index.ts';

/** Facts about the answer that Anthropic puts beside the counts. */
const FACTS = ['service_tier', 'inference_geo', 'speed'] as const;

const TOTALS = ['input_tokens', 'output_tokens'];

/**
 * A `usage` object (SDK type `Usage`), with null for what nobody said. Audio and images count as plain input: the protocol has no class for them.
 * An upstream of the same protocol is quoted.
 * @param costUsd as `cost`; absent where it is not known
 */
export function encodeUsage(usage: Usage, costUsd?: number): JsonObject {
  const { input, output, tools } = usage;
  const raw = asObject(usage.raw);
  const facts: Record<string, string | null> = {};
  for (const name of FACTS) facts[name] = asString(raw[name]) ?? null;
  const searches = tools['web_search'] ?? 0;
  const fetches = tools['web_fetch'] ?? 0;
  const encoded = {
    input_tokens: input.uncached + input.audio + input.image,
    cache_creation_input_tokens: cacheWriteTokens(usage),
    cache_read_input_tokens: input.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: input.cacheWrite5m,
      ephemeral_1h_input_tokens: input.cacheWrite1h,
    },
    output_tokens: outputTokens(usage),
    output_tokens_details: output.reasoning > 0 ? { thinking_tokens: output.reasoning } : null,
    server_tool_use:
      searches + fetches > 0 ? { web_search_requests: searches, web_fetch_requests: fetches } : null,
    ...facts,
  };
  const said = asVendorSaid(usage, 'anthropic-messages', encoded, TOTALS);
  return costUsd === undefined ? said : { ...said, cost: costUsd };
}
