// Expected use of a request, before anybody was asked: its prompt by estimate, and an answer of the usual length.
import type { CanonicalRequest } from '../canonical/index.ts';
import { type Endpoint, isListPriced } from '../catalog/index.ts';
import { tokenPrices } from '../accounts/ledger/index.ts';
import type { Estimate } from '../accounts/limits/index.ts';
import type { RoutingState } from './routing/index.ts';

/** Tokens of an answer where neither its request nor the model's other answers say more. */
const USUAL_OUTPUT = 1000;
/** Tokens for which there must be money left, so that a stream is worth beginning. */
const LEAST_OUTPUT = 16;

/**
 * @param endpoint who is asked first
 * @param endUser hash of whom the request names
 */
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
    // Only a stream can be stopped: of any other answer all must be there that it is expected to cost.
    leastNanoUsd: request.stream ? (costOf(Math.min(output, LEAST_OUTPUT)) ?? undefined) : undefined,
  };
}

/** Tokens that an answer may have at most; Infinity: neither the request nor the endpoint says. */
function mostOutput(request: CanonicalRequest, endpoint: Endpoint): number {
  const { maxOutputTokens = Infinity, task } = request;
  return Math.min(maxOutputTokens, endpoint.maxOutputTokens ?? Infinity, task?.mostOutputTokens ?? Infinity);
}

/**
 * Tokens: the 90th percentile of the endpoint's answers, as far as there are some, and no more than the request allows.
 * A whole answer that says how long it may become is taken at its word, since nothing can stop it.
 */
function expectedOutput(
  request: CanonicalRequest,
  endpoint: Endpoint,
  most: number,
  state: Pick<RoutingState, 'health'>,
): number {
  if (!request.stream && request.maxOutputTokens !== undefined) return most;
  return Math.min(most, state.health(endpoint).usualOutputTokens ?? USUAL_OUTPUT);
}
