// Whether lines of batches can go to a vendor's own batch API, and what they cost there. Asks nobody.
import type { ProtocolName } from '../canonical/index.ts';
import { findProtocol, protocols } from '../protocols/index.ts';
import type { ActiveProvider } from './active-providers.ts';
import type { EndpointConfig } from './catalog-config.ts';
import type { Endpoint } from './endpoint.ts';
import { configuredPrice, type PriceSource, scaledPrice } from './prices.ts';

/** Protocols with a batch API that the gateway knows. */
export function hasBatches(protocol: ProtocolName): boolean {
  return findProtocol(protocol)?.upstream.batches !== undefined;
}

/** Why `batch: vendor` is refused, as the end of a sentence. */
export const NO_BATCHES = `must be \`requests\` here: only ${protocols
  .filter(({ upstream }) => upstream.batches)
  .map(({ name }) => name)
  .join(', ')} have a batch API`;

export interface BatchPlace {
  readonly provider: Pick<ActiveProvider, 'batches' | 'batchPriceFactor'>;
  readonly protocol: ProtocolName;
  readonly config?: Pick<EndpointConfig, 'batch' | 'batchPrice'> | undefined;
}

/**
 * An endpoint in its vendor's batch API; undefined where lines of batches are asked as any other request.
 * @param price the ordinary one
 */
export function batchOf({ provider, protocol, config }: BatchPlace, price: PriceSource): Endpoint['batch'] {
  const isVendors = config?.batch === undefined ? provider.batches === true : config.batch === 'vendor';
  if (!isVendors || !hasBatches(protocol)) return undefined;
  const { batchPriceFactor = 1 } = provider;
  const source = config?.batchPrice
    ? configuredPrice(config.batchPrice)
    : scaledPrice(price, batchPriceFactor);
  return Object.freeze({
    get price() {
      return source();
    },
  });
}
