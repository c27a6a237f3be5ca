// Encodes the usage vector for Messages clients. Totals of input exclude cached tokens.
import type { JsonObject } from '../../../base/json/index.ts';
import { mergeVendorUsage } from '../../usage/vendor-usage.ts';
import type { Usage } from '../../../canonical/index.ts';
import { asObject, asString } from '../../../base/json/index.ts';
import { cacheWriteTokens, outputTokens } from '../../../canonical/index.ts';

/** Members that Anthropic adds to the counts. */
const FACTS = ['service_tier', 'inference_geo', 'speed'] as const;

const TOTALS = ['input_tokens', 'output_tokens'];

/**
 * Returns a `usage` object (SDK type `Usage`), with null for unknown values. Audio and images count as plain input,
 * because the protocol has no class for them. Usage of an upstream of this protocol is passed on.
 * @param costUsd for `cost`; undefined: unknown
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
  const said = mergeVendorUsage(usage, 'anthropic-messages', encoded, TOTALS);
  return costUsd === undefined ? said : { ...said, cost: costUsd };
}
