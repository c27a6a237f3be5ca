// Merges newer price data over older data. Models and prices that are missing in the newer data are kept and marked,
// instead of becoming free or unknown.
import {
  isList,
  type PriceBook,
  type PricedModel,
  type PriceValue,
  type PriceValues,
  type Vendor,
} from './price-data.ts';

/**
 * Merges newer data over an older book.
 * @param vendors vendors of the newer data
 * @param version version of the newer data
 */
export function bookOver(older: PriceBook, vendors: readonly Vendor[], version: string): PriceBook {
  const merged = new Map<string, Vendor>();
  for (const vendor of older.vendors()) merged.set(vendor.id, removedVendor(vendor, older.version));
  for (const vendor of vendors)
    merged.set(vendor.id, mergedVendor(vendor, older.vendor(vendor.id), version, older.version));
  return bookOf(older, merged, version);
}

/** Restores a merged book: its vendors replace those of another. */
export function keptBook(older: PriceBook, vendors: readonly Vendor[], version: string): PriceBook {
  return bookOf(older, new Map(vendors.map((vendor) => [vendor.id, vendor])), version);
}

function bookOf(older: PriceBook, vendors: Map<string, Vendor>, version: string): PriceBook {
  const all = [...vendors.values()];
  return Object.freeze({
    version,
    vendors: () => all,
    vendor(id: string): Vendor | undefined {
      const known = vendors.get(id);
      if (known) return known;
      const before = older.vendor(id);
      if (!before) return undefined;
      const vendor = removedVendor(before, older.version);
      vendors.set(id, vendor);
      return vendor;
    },
  });
}

function removedVendor(vendor: Vendor, version: string): Vendor {
  return { ...vendor, models: vendor.models.map((model) => markRemoved(model, version)) };
}

function mergedVendor(
  newer: Vendor,
  older: Vendor | undefined,
  version: string,
  olderVersion: string,
): Vendor {
  const before = new Map(older?.models.map((model) => [model.id, model]));
  const models = newer.models.map((model) => {
    const known = before.get(model.id);
    before.delete(model.id);
    return known ? mergedModel(model, known, version, olderVersion) : { ...model, source: version };
  });
  // Added last, because match rules are tried in order, and rules of removed models must not match names of current
  // ones.
  for (const model of before.values()) models.push(markRemoved(model, olderVersion));
  return { ...newer, models };
}

function markRemoved(model: PricedModel, version: string): PricedModel & { readonly source: string } {
  return { ...model, source: model.source ?? version, gone: true };
}

function mergedModel(
  newer: PricedModel,
  older: PricedModel,
  version: string,
  olderVersion: string,
): PricedModel & { readonly source: string } {
  const from = older.source ?? olderVersion;
  const base = {
    ...newer,
    name: newer.name ?? older.name,
    context_window: newer.context_window ?? older.context_window,
    source: version,
  };
  if (isList(newer.prices) || isList(older.prices)) {
    const [said, known] = [all(newer.prices), all(older.prices)];
    const isForgotten = !said.some(isPriced) && known.some(isPriced);
    if (!isForgotten) return base;
    return { ...base, prices: older.prices, kept: { ...keysOf(known, from), ...older.kept } };
  }
  const prices: Record<string, PriceValue | undefined> = { ...newer.prices };
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(older.prices)) {
    if (value === undefined || !isForgotten(newer.prices[key], value)) continue;
    prices[key] = value;
    kept[key] = older.kept?.[key] ?? from;
  }
  return Object.keys(kept).length > 0 ? { ...base, prices, kept } : { ...base, prices };
}

/**
 * True if a price is missing or has become zero. Vendors lower prices, but a zero is more likely an error in the
 * source.
 */
function isForgotten(newer: PriceValue | undefined, older: PriceValue): boolean {
  return newer === undefined || (isMore(older) && !isMore(newer));
}

function isMore(value: PriceValue): boolean {
  return typeof value === 'number' ? value > 0 : value.base > 0 || value.tiers.some(({ price }) => price > 0);
}

function isPriced(prices: PriceValues): boolean {
  return Object.values(prices).some((value) => value !== undefined && isMore(value));
}

function all(prices: PricedModel['prices']): readonly PriceValues[] {
  return isList(prices) ? prices.map((each) => each.prices) : [prices];
}

function keysOf(prices: readonly PriceValues[], from: string): Record<string, string> {
  return Object.fromEntries(prices.flatMap((each) => Object.keys(each).map((key) => [key, from])));
}
