// A catalog with changed prices, or without some endpoints. Everything else is unchanged.
import type { Catalog, Endpoint, Model, Price } from '../../catalog/index.ts';

/** A price change for the matching endpoints. */
export interface PriceChange {
  /** Model id; absent: every model. */
  readonly model?: string | undefined;
  /** Provider, or endpoint as `provider/name`; absent: all. */
  readonly provider?: string | undefined;
  /** Replaces the known price. Absent: unchanged. */
  readonly price?: Omit<Price, 'source'> | undefined;
  /** Multiplies every rate. Absent: 1. */
  readonly factor?: number | undefined;
}

export interface Changes {
  readonly prices: readonly PriceChange[];
  /** Providers and endpoints to remove. */
  readonly without: readonly string[];
}

export function changedCatalog(catalog: Catalog, { prices, without }: Changes): Catalog {
  const changed = new WeakMap<Model, Model>();
  const change = (model: Model): Model => {
    let made = changed.get(model);
    if (!made) {
      const endpoints = model.endpoints
        .filter((endpoint) => !without.some((name) => isNamed(endpoint, name)))
        .map((endpoint) => ({ ...endpoint, price: priceOf(endpoint, prices) }));
      changed.set(model, (made = { ...model, endpoints }));
    }
    return made;
  };
  return {
    find: (id) => {
      const found = catalog.find(id);
      return found && change(found);
    },
    list: () => catalog.list().map(change),
    making: (modality) => catalog.making(modality).map(change),
    known: () => catalog.known().map(change),
    isListed: (id) => catalog.isListed(id),
    providers: () => catalog.providers(),
    hasProvider: (id) => catalog.hasProvider(id),
    switchesOn: (id) => catalog.switchesOn(id),
    secrets: () => catalog.secrets(),
    credentialOrigins: () => catalog.credentialOrigins(),
    suggest: (id) => catalog.suggest(id),
  };
}

function priceOf(endpoint: Endpoint, changes: readonly PriceChange[]): Price | null {
  let { price } = endpoint;
  for (const { model, provider, price: other, factor } of changes) {
    if (model !== undefined && model !== endpoint.modelId) continue;
    if (provider !== undefined && !isNamed(endpoint, provider)) continue;
    if (other) price = { ...other, source: 'what-if' };
    if (factor !== undefined && price) price = scaled(price, factor);
  }
  return price;
}

function isNamed({ slug, provider }: Endpoint, name: string): boolean {
  return slug === name || provider === name;
}

function scaled(price: Price, factor: number): Price {
  const times = (value: unknown): unknown => {
    if (typeof value === 'number') return value * factor;
    if (typeof value !== 'object' || value === null) return value;
    if ('steps' in value && 'base' in value && Array.isArray(value.steps)) {
      const steps = value.steps as readonly { readonly above: number; readonly rate: number }[];
      return {
        base: times(value.base),
        steps: steps.map(({ above, rate }) => ({ above, rate: rate * factor })),
      };
    }
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, times(each)]));
  };
  const rates = Object.fromEntries(Object.entries(price).map(([name, value]) => [name, times(value)]));
  return { ...rates, source: price.source };
}
