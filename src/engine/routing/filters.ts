// Which endpoints are out, and why. A wish that nobody satisfies leaves nothing: it is never bent in silence.
import type { CanonicalRequest, NameList, PriceLimit, RoutingWishes } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { baseRate } from './factors/index.ts';

/** Why an endpoint is out, and the member of the request that says so. */
export interface Removal {
  readonly param: string;
  readonly reason: string;
}

/**
 * True when a slug, of a provider or of one endpoint, means this endpoint. An endpoint that nobody named is also known by
 * what its provider calls the model.
 */
export function isNamed({ slug, provider, model }: Endpoint, name: string): boolean {
  return (
    slug === name ||
    provider === name ||
    (name.length === provider.length + 1 + model.length && name === `${provider}/${model}`)
  );
}

/** True when one of the slugs means this endpoint. */
export function isAmong(endpoint: Endpoint, list: NameList): boolean {
  return list.names.some((name) => isNamed(endpoint, name));
}

/**
 * Why an endpoint may not serve the request; null when it may.
 * @param lacking the request's parameters that it does not take
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
  return standingRemoval(endpoint, request, wishes, lacking);
}

/** The same, without the lists that choose whom to ask first: a named fallback need not be in them. */
export function standingRemoval(
  endpoint: Endpoint,
  request: CanonicalRequest,
  wishes: RoutingWishes,
  lacking: (request: CanonicalRequest, endpoint: Endpoint) => readonly string[],
): Removal | null {
  const { ignore, maxPrice, requireParameters } = wishes;
  if (ignore && isAmong(endpoint, ignore)) return { param: ignore.path, reason: `in ${ignore.path}` };
  const dear = maxPrice && tooDear(endpoint, maxPrice);
  if (dear) return { param: 'provider.max_price', reason: dear };
  if (requireParameters !== true) return null;
  const missing = lacking(request, endpoint);
  if (missing.length === 0) return null;
  return { param: 'provider.require_parameters', reason: `does not take ${missing.join(', ')}` };
}

function tooDear({ price }: Endpoint, limit: PriceLimit): string | null {
  const exceeds = (name: string, rate: number | null, highest: number | undefined): string | null => {
    if (highest === undefined) return null;
    // An unknown price may be any.
    if (rate === null) return `its ${name} price is unknown`;
    return rate > highest ? `its ${name} price of ${rate} USD exceeds ${highest}` : null;
  };
  return (
    exceeds('prompt', baseRate(price?.input), limit.prompt) ??
    exceeds('completion', baseRate(price?.output), limit.completion) ??
    // A price that names no fee per request has none.
    exceeds('request', price ? (price.request ?? 0) : null, limit.request)
  );
}
