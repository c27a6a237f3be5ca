// Decides from the catalog whether a model can serve a request, and how well. Reasons use the same text for every
// model, so that a route table can count them.
import type { CanonicalRequest, RoutingWishes } from '../../canonical/index.ts';
import { endpointsFor, type Endpoint, type Model, type ResolvedModel } from '../../catalog/index.ts';
import { isNamed, removalOf } from './filters.ts';
import { contextOf } from './context-length.ts';
import type { PlanContext } from './plan-types.ts';
import type { RequestFacts } from './request-facts.ts';

/** Prefix of the member or default that excludes a model. */
export const RULED_OUT = 'excluded by ';
export const NOT_ALLOWED = 'not allowed for this API key';

/** Output that a request needs, and the reason for models that lack it. */
const TEXT = { makes: 'text', misfit: 'does not output text' } as const;

/** Properties of a request used to select models. */
export interface Estimate {
  readonly request: CanonicalRequest;
  readonly facts: RequestFacts;
  readonly wishes: RoutingWishes;
}

/**
 * The endpoints of a model that can serve the request, or the reason why none can. Checks output and input types,
 * context length, requested reasoning and preferences. Unknown properties count in the model's favour.
 */
export function fitOf(
  { model, pinned }: ResolvedModel,
  estimate: Estimate,
  context: PlanContext,
): readonly Endpoint[] | string {
  if (!context.mayUse(model.id)) return NOT_ALLOWED;
  const { makes, misfit } = estimate.request.task ?? TEXT;
  if (!model.outputModalities.includes(makes)) return misfit;
  for (const modality of estimate.facts.modalities)
    if (!model.inputModalities.includes(modality)) return `does not support ${modality} input`;
  let reason: string | null = null;
  const fitting: Endpoint[] = [];
  for (const endpoint of endpointsFor(model, estimate.request)) {
    const misfit = endpointMisfit(endpoint, model, pinned, estimate, context);
    if (misfit === null) fitting.push(endpoint);
    else reason ??= misfit;
  }
  return fitting.length > 0 ? fitting : (reason ?? 'has no endpoint');
}

function endpointMisfit(
  endpoint: Endpoint,
  model: Model,
  pinned: string | null,
  { request, facts, wishes }: Estimate,
  context: PlanContext,
): string | null {
  if (pinned !== null && !isNamed(endpoint, pinned)) return `is not served by ${pinned}`;
  if (facts.reasoning !== 'none' && endpoint.reasoningStyle === 'none') return 'cannot reason';
  const declared = endpoint.contextLength ?? model.contextLength;
  const contextLength = contextOf({ contextLength: declared }, context.state.health(endpoint), context.nowMs);
  if (contextLength !== null) {
    const answer = Math.min(request.maxOutputTokens ?? 0, endpoint.maxOutputTokens ?? Infinity);
    if (facts.promptTokens + answer > contextLength) return 'its context window is too small';
  }
  const removal = removalOf(endpoint, request, wishes, context.lacking);
  return removal && RULED_OUT + removal.param;
}

/**
 * Number of the request's features that must be emulated at the best of these endpoints: unenforced answer formats and
 * free-form tools.
 */
export function countEmulated(endpoints: readonly Endpoint[], facts: RequestFacts): number {
  const { format, customTools } = facts;
  if (format === 'text' && !customTools) return 0;
  const counts = endpoints.map(({ quirks }) => {
    const enforces = quirks.structuredOutput === 'json_schema' || quirks.structuredOutput === format;
    return Number(format !== 'text' && !enforces) + Number(customTools && !quirks.customTools);
  });
  return Math.min(...counts);
}
