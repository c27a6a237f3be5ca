// Expected usage of a request before it is sent: its estimated prompt, and an answer of typical length.
import type { CanonicalRequest } from '../canonical/index.ts';
import { type Endpoint, isListPriced } from '../catalog/index.ts';
import { tokenPrices } from '../accounts/ledger/index.ts';
import type { Estimate } from '../accounts/limits/index.ts';
import type { RoutingState } from './routing/index.ts';

/** Default tokens of an answer if neither the request nor earlier answers of the model say more. */
const USUAL_OUTPUT = 1000;
/** Minimum tokens that the remaining budget must cover for a stream to begin. */
const LEAST_OUTPUT = 16;

/** @param endpoint the first endpoint to be tried @param endUser hash of the request's end user */
export function estimateOf(
  { request, inputTokens: input }: { readonly request: CanonicalRequest; readonly inputTokens: number },
  endpoint: Endpoint,
  endUser: string | null,
  state: Pick<RoutingState, 'health'>,
): Estimate {
  const most = mostOutput(request, endpoint);
  const output = expectedOutput(request, endpoint, most, state);
  const price = isListPriced(request, endpoint) ? endpoint.price : null;
  const prices = price && tokenPrices(price, input);
  const costOf = (tokens: number): number | null => {
    if (!prices || prices.input === undefined) return null;
    if (prices.output === undefined && tokens > 0) return null;
    return Math.ceil(prices.request + input * prices.input + tokens * (prices.output ?? 0));
  };
  const nanoUsd = costOf(output);
  return {
    model: endpoint.countedAs?.() ?? endpoint.modelId,
    endUser,
    tokens: input + output,
    certainTokens: input + (request.maxOutputTokens === undefined ? 0 : most),
    nanoUsd,
    // Only a stream can be stopped early. Any other answer needs budget for its full expected cost.
    leastNanoUsd: request.stream ? (costOf(Math.min(output, LEAST_OUTPUT)) ?? undefined) : undefined,
  };
}

/** Maximum tokens of an answer. Infinity: neither the request nor the endpoint limits it. */
function mostOutput(request: CanonicalRequest, endpoint: Endpoint): number {
  const { maxOutputTokens = Infinity, task } = request;
  return Math.min(maxOutputTokens, endpoint.maxOutputTokens ?? Infinity, task?.mostOutputTokens ?? Infinity);
}

/**
 * Expected tokens: the 90th percentile of the endpoint's answers if known, at most what the request allows. For a whole
 * answer with a limit, the limit is used, because it cannot be stopped early.
 */
function expectedOutput(
  request: CanonicalRequest,
  endpoint: Endpoint,
  most: number,
  state: Pick<RoutingState, 'health'>,
): number {
  if (!request.stream && request.maxOutputTokens !== undefined) return most;
  // Whole tokens, because sums of fractions leave a remainder that looks reserved.
  return Math.min(most, Math.ceil(state.health(endpoint).usualOutputTokens ?? USUAL_OUTPUT));
}
