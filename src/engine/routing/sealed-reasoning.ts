// Encrypted reasoning and compactions. Vendors encrypt them for the account that produced them, so a conversation must
// return to that endpoint.
import { hash } from 'node:crypto';
import type { CanonicalRequest, Item } from '../../canonical/index.ts';
import type { DurationMs } from '../../base/units.ts';
import type { EndpointId, RoutingState } from './state.ts';

/** Time for which the endpoint of encrypted reasoning is stored: agents pause longer than caches live. */
const SEALED_MS: DurationMs = 86_400_000;
/** Limits the work for long conversations whose endpoint is no longer stored. */
const MOST_LOOKUPS = 8;
/** Limits what one answer stores. */
const MOST_STORED = 32;

/** Encrypted data of reasoning or of a compaction. Undefined: there is none. */
export function sealedData(item: Item): string | undefined {
  if (item.type === 'compaction') return item.encrypted;
  return item.type === 'reasoning' && item.opaque?.kind === 'encrypted' ? item.opaque.data : undefined;
}

/** The endpoint that produced this encrypted reasoning. Null: unknown. */
export function producerOf(data: string, state: Pick<RoutingState, 'holder'>): EndpointId | null {
  return state.holder(keyOf(data));
}

/** The endpoint that produced the latest encrypted reasoning of the request. Null: none, or unknown. */
export function latestProducer(
  { items }: CanonicalRequest,
  state: Pick<RoutingState, 'holder'>,
): EndpointId | null {
  for (let at = items.length - 1, lookups = 0; at >= 0 && lookups < MOST_LOOKUPS; at -= 1) {
    const item = items[at];
    const data = item && sealedData(item);
    if (data === undefined) continue;
    const producer = producerOf(data, state);
    if (producer) return producer;
    lookups += 1;
  }
  return null;
}

/** Stores the endpoint that produced encrypted reasoning. */
export function storeProducer(
  sealed: readonly string[],
  endpoint: EndpointId,
  state: Pick<RoutingState, 'hold'>,
): void {
  for (const data of sealed.slice(-MOST_STORED)) state.hold(keyOf(data), endpoint, SEALED_MS);
}

function keyOf(data: string): string {
  return hash('sha256', `reasoning\0${data}`, 'base64url');
}
