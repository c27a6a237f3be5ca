// Whether a model can serve a request at all, by what the catalog says of it, and how well. What decides is said in
// words that are the same for every model, so that a route table can count them.
import type { CanonicalRequest, RoutingWishes } from '../canonical/index.ts';
import type { Endpoint, Model } from '../catalog/index.ts';
import { isNamed, removalOf } from './filters.ts';
import type { ResolvedModel } from './model-id.ts';
import type { PlanContext } from './plan-types.ts';
import type { RequestFacts } from './request-facts.ts';

export const NOT_ALLOWED = 'this API key may not use it';

/** A request as seen by models. */
export interface Demand {
  readonly request: CanonicalRequest;
  readonly facts: RequestFacts;
  readonly wishes: RoutingWishes;
}

export type Fit =
  | { readonly type: 'misfit'; readonly reason: string }
  /** `endpoints`: those that can serve it. */
  | { readonly type: 'fit'; readonly endpoints: readonly Endpoint[] };

/**
 * Whether a model fits: text, what it reads, the length of its context, reasoning where that is asked for, and an
 * endpoint that the wishes leave. What the catalog does not know speaks for the model.
 */
export function fitOf({ model, pinned }: ResolvedModel, demand: Demand, context: PlanContext): Fit {
  if (!context.mayUse(model.id)) return misfit(NOT_ALLOWED);
  if (!model.outputModalities.includes('text')) return misfit('writes no text');
  for (const modality of demand.facts.modalities)
    if (!model.inputModalities.includes(modality)) return misfit(`does not read ${modality} input`);
  let reason: string | null = null;
  const endpoints = model.endpoints.filter((endpoint) => {
    const why = endpointMisfit(endpoint, model, pinned, demand, context);
    reason ??= why;
    return why === null;
  });
  return endpoints.length > 0 ? { type: 'fit', endpoints } : misfit(reason ?? 'is served nowhere');
}

function misfit(reason: string): Fit {
  return { type: 'misfit', reason };
}

function endpointMisfit(
  endpoint: Endpoint,
  model: Model,
  pinned: string | null,
  { request, facts, wishes }: Demand,
  context: PlanContext,
): string | null {
  if (pinned !== null && !isNamed(endpoint, pinned)) return `is not served by ${pinned}`;
  if (facts.reasoning !== 'none' && endpoint.reasoningStyle === 'none') return 'cannot reason';
  const contextLength = endpoint.contextLength ?? model.contextLength;
  if (contextLength !== null) {
    const answer = Math.min(request.maxOutputTokens ?? 0, endpoint.maxOutputTokens ?? Infinity);
    if (facts.promptTokens + answer > contextLength) return 'its context is too small';
  }
  const removal = removalOf(endpoint, request, wishes, context.lacking);
  return removal && `ruled out by ${removal.param}`;
}

/**
 * How many of the request's features would have to be emulated on the best of some endpoints: an answer format that
 * the upstream does not enforce, tools with free-form input that it does not know.
 */
export function countEmulated(endpoints: readonly Endpoint[], facts: RequestFacts): number {
  if (facts.format === 'text' && !facts.customTools) return 0;
  return endpoints.reduce((least, { quirks }) => {
    const { structuredOutput } = quirks;
    const enforced = structuredOutput === 'json_schema' || structuredOutput === facts.format;
    const format = facts.format !== 'text' && !enforced;
    const tools = facts.customTools && !quirks.customTools;
    return Math.min(least, Number(format) + Number(tools));
  }, Infinity);
}
