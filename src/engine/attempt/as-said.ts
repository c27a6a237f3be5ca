// What is believed of a model that the catalog does not know: at a server that defines the client's protocol, what the
// client said of reasoning goes as it was said. Tomorrow's model is always unknown, and its maker judges best.
import type { Endpoint } from '../../catalog/index.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';

/** The endpoint as this request takes it to be; the same one where the catalog knows, or nothing was said. */
export function asSaid(endpoint: Endpoint, { protocol, hybrid, reasoning }: CanonicalRequest): Endpoint {
  if (endpoint.isReasoningKnown || !endpoint.faithful || endpoint.protocol !== protocol || hybrid)
    return endpoint;
  const { effort, enabled, maxTokens } = reasoning;
  if (effort === undefined && enabled === undefined && maxTokens === undefined) return endpoint;
  return {
    ...endpoint,
    // No tokens are a budget, too.
    reasoningStyle:
      maxTokens !== undefined || (enabled === false && effort === undefined) ? 'budget' : 'effort',
    reasoningMandatory: false,
    reasoningBudget: { min: 0, max: null },
    efforts: null,
    quirks: { ...endpoint.quirks, exclusiveReasoning: false },
  };
}
