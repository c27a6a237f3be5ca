// The prices and models that come with the gateway: one vendor a line, as `contrib/bundle-prices.ts` writes them. A vendor is
// read when somebody asks for it, since most gateways use a few of them. Knows nothing of prices.
import type { PriceBook, Vendor } from './price-data.ts';
import lines from './bundled-prices.jsonl' with { type: 'text' };

const head = JSON.parse(lines.slice(0, lines.indexOf('\n'))) as { readonly source: string };
const known = new Map<string, Vendor | undefined>();

/** The library's data, of the version in its name. Ids are taken as they are: nobody's own server must inherit prices. */
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
