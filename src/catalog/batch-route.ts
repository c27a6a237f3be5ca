// Decides whether batch lines go to a vendor's batch API, and their price there.
import type { ProtocolName } from '../canonical/index.ts';
import { findProtocol, protocols } from '../protocols/index.ts';
import type { ActiveProvider } from './active-providers.ts';
import type { EndpointConfig } from './catalog-config.ts';
import type { Endpoint } from './endpoint.ts';
import { configuredPrice, type PriceSource, scaledPrice } from './prices.ts';

/** True if the gateway supports a batch API of the protocol. */
export function hasBatches(protocol: ProtocolName): boolean {
  return findProtocol(protocol)?.upstream.batches !== undefined;
}

/** Reason why `batch: vendor` is rejected, as the end of a sentence. */
export const NO_BATCHES = `must be \`requests\`: only ${protocols
  .filter(({ upstream }) => upstream.batches)
  .map(({ name }) => name)
  .join(', ')} have a batch API`;

export interface BatchPlace {
  readonly provider: Pick<ActiveProvider, 'batches' | 'batchPriceFactor'>;
  readonly protocol: ProtocolName;
  readonly config?: Pick<EndpointConfig, 'batch' | 'batchPrice'> | undefined;
}

/** Batch API of an endpoint; undefined: batch lines are sent as ordinary requests. @param price the ordinary price */
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
