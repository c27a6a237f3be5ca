// Filters: which endpoints are excluded, and why. A preference that no endpoint satisfies is never relaxed silently.
import type { CanonicalRequest, NameList, PriceLimit, RoutingWishes } from '../../canonical/index.ts';
import { baseRate, type Endpoint } from '../../catalog/index.ts';

/** Why an endpoint is excluded, and the member of the request that causes it. */
export interface Removal {
  readonly param: string;
  readonly reason: string;
}

/**
 * True when the slug of a provider or endpoint names this endpoint. An endpoint outside of the catalog is also known by
 * its provider's model name.
 */
export function isNamed({ slug, provider, model }: Endpoint, name: string): boolean {
  return (
    slug === name ||
    provider === name ||
    (name.length === provider.length + 1 + model.length && name === `${provider}/${model}`)
  );
}

/** True when one of the slugs names this endpoint. */
export function isAmong(endpoint: Endpoint, list: NameList): boolean {
  return list.names.some((name) => isNamed(endpoint, name));
}

/**
 * Why an endpoint must not serve the request. Null: it may.
 * @param lacking returns parameters of the request that it does not support
 */
export function removalOf(
  endpoint: Endpoint,
  request: CanonicalRequest,
  wishes: RoutingWishes,
  lacking: (request: CanonicalRequest, endpoint: Endpoint) => readonly string[],
): Removal | null {
  for (const list of [wishes.providers, wishes.only]) {
    if (list && !isAmong(endpoint, list)) return { param: list.path, reason: `not in ${list.path}` };
  }
  return permanentRemoval(endpoint, request, wishes, lacking);
}

/** The same without the lists for the first choice, because a named fallback need not be in them. */
export function permanentRemoval(
  endpoint: Endpoint,
  request: CanonicalRequest,
  wishes: RoutingWishes,
  lacking: (request: CanonicalRequest, endpoint: Endpoint) => readonly string[],
): Removal | null {
  const { ignore, maxPrice, requireParameters } = wishes;
  if (ignore && isAmong(endpoint, ignore)) return { param: ignore.path, reason: `in ${ignore.path}` };
  const priceProblem = maxPrice && maxPriceProblem(endpoint, maxPrice);
  if (priceProblem) return { param: 'provider.max_price', reason: priceProblem };
  if (requireParameters !== true) return null;
  const missing = lacking(request, endpoint);
  if (missing.length === 0) return null;
  return { param: 'provider.require_parameters', reason: `does not support ${missing.join(', ')}` };
}

function maxPriceProblem({ price }: Endpoint, limit: PriceLimit): string | null {
  const exceeds = (name: string, rate: number | null, highest: number | undefined): string | null => {
    if (highest === undefined) return null;
    // An unknown price may exceed any limit.
    if (rate === null) return `its ${name} price is unknown`;
    return rate > highest ? `its ${name} price of ${rate} USD exceeds the maximum of ${highest} USD` : null;
  };
  return (
    exceeds('prompt', baseRate(price?.input), limit.prompt) ??
    exceeds('completion', baseRate(price?.output), limit.completion) ??
    // A price without a fee per request has none.
    exceeds('request', price ? (price.request ?? 0) : null, limit.request)
  );
}
