// Bundled prices and models, one vendor per line, written by `contrib/bundle-prices.ts`. Vendors are parsed on first
// use, because most gateways use only a few.
import type { PriceBook, Vendor } from './price-data.ts';
import lines from './bundled-prices.jsonl' with { type: 'text' };

const head = JSON.parse(lines.slice(0, lines.indexOf('\n'))) as { readonly source: string };
const known = new Map<string, Vendor | undefined>();

/**
 * Data of the price library, with its version. Vendor ids must match exactly, so that self-hosted servers do not
 * inherit prices.
 */
export const BUNDLED_PRICES: PriceBook = Object.freeze({
  version: head.source,
  vendors: () => [],
  vendor(id: string) {
    if (!known.has(id)) known.set(id, readVendor(id));
    return known.get(id);
  },
});

function readVendor(id: string): Vendor | undefined {
  const from = lines.indexOf(`\n{"id":${JSON.stringify(id)},`) + 1;
  return from === 0 ? undefined : (JSON.parse(lines.slice(from, lines.indexOf('\n', from))) as Vendor);
}
