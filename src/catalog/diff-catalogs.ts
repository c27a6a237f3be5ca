// Differences between two catalogs: added and removed models, and changed prices.
import type { Catalog, Model } from './endpoint.ts';
import type { Price, Rate } from './price.ts';

export interface ModelChange {
  readonly model: string;
  /** `gone`: missing in the newer source. Its old data stays. */
  readonly change: 'new' | 'gone' | 'price up' | 'price down' | 'price' | 'price kept' | 'context';
  readonly before: string | null;
  readonly after: string | null;
}

/** Changed models in order of their ids. Only the first endpoint of each is compared. */
export function diffCatalogs(before: Catalog, after: Catalog): readonly ModelChange[] {
  const old = new Map(before.list().map((model) => [model.id, model]));
  const changes: ModelChange[] = [];
  for (const model of after.list()) {
    const known = old.get(model.id);
    old.delete(model.id);
    if (known) changes.push(...changesOf(known, model));
    else changes.push({ model: model.id, change: 'new', before: null, after: priceText(priceOf(model)) });
  }
  for (const model of old.values())
    changes.push({ model: model.id, change: 'gone', before: priceText(priceOf(model)), after: null });
  return changes.toSorted((one, other) => (one.model < other.model ? -1 : one.model > other.model ? 1 : 0));
}

function changesOf(before: Model, after: Model): readonly ModelChange[] {
  const model = after.id;
  const [was, is] = [priceOf(before), priceOf(after)];
  const texts = { before: priceText(was), after: priceText(is) };
  const changes: ModelChange[] = [];
  const isForgotten = is?.isKept === true && was?.isKept !== true;
  if (isForgotten)
    changes.push({ model, change: is.source.includes('kept:') ? 'price kept' : 'gone', ...texts });
  if (texts.before !== texts.after) changes.push({ model, change: direction(was, is), ...texts });
  if (before.contextLength !== after.contextLength)
    changes.push({
      model,
      change: 'context',
      before: before.contextLength === null ? null : String(before.contextLength),
      after: after.contextLength === null ? null : String(after.contextLength),
    });
  return changes;
}

function priceOf({ endpoints }: Model): Price | null {
  return endpoints[0]?.price ?? null;
}

/** Rates by name, in USD per million tokens. */
function ratesOf(price: Price): readonly (readonly [string, Rate])[] {
  const { source: _, isKept: __, tools, ...rates } = price;
  const all: [string, Rate][] = [];
  for (const [key, rate] of Object.entries(rates)) if (rate !== undefined) all.push([key, rate]);
  for (const [tool, usd] of Object.entries(tools ?? {})) all.push([tool, usd]);
  return all;
}

function priceText(price: Price | null): string | null {
  if (!price) return null;
  return ratesOf(price)
    .map(([key, rate]) => `${key} ${rateText(rate)}`)
    .join(', ');
}

function rateText(rate: Rate): string {
  if (typeof rate === 'number') return String(rate);
  return [rate.base, ...rate.steps.map((step) => `${step.rate} above ${step.above}`)].join('/');
}

/** Up or down, if all changed rates move in the same direction. */
function direction(before: Price | null, after: Price | null): ModelChange['change'] {
  if (!before || !after) return 'price';
  const old = new Map(ratesOf(before));
  const ways = new Set<number>();
  for (const [key, rate] of ratesOf(after)) {
    const was = old.get(key);
    if (was === undefined) return 'price';
    const [one, other] = [highest(was), highest(rate)];
    if (one !== other) ways.add(Math.sign(other - one));
    else if (rateText(was) !== rateText(rate)) return 'price';
    old.delete(key);
  }
  if (ways.size !== 1 || old.size > 0) return 'price';
  return ways.has(1) ? 'price up' : 'price down';
}

function highest(rate: Rate): number {
  return typeof rate === 'number' ? rate : Math.max(rate.base, ...rate.steps.map((step) => step.rate));
}
