// Prices and model lists of vendors, converted from the price library's data when a catalog is built. The library's own
// calculator is not used, because it is too slow to run per request.
import { BUNDLED_PRICES } from './bundled-prices.ts';
import {
  accepts,
  findPriced,
  isList,
  pricesAt,
  type MatchRule,
  type PriceBook,
  type PricedModel,
  type PriceValue,
  type PriceValues,
} from './price-data.ts';
import type { Price, Rate } from './price.ts';
import type { UnixMs } from '../base/units.ts';
import type { CanonicalRequest } from '../canonical/index.ts';
import type { Endpoint } from './endpoint.ts';
import { sharesMembers } from '../protocols/index.ts';

/** Current price of a model. Some vendors charge by the hour, so it may change. */
export type PriceSource = () => Price | null;

/** A model in the price library. */
export interface LibraryModel {
  /** The library's name of the model. */
  readonly id: string;
  /** The vendor API's name of the model. */
  readonly name: string;
  readonly displayName: string | null;
  /** Tokens; null: unknown. */
  readonly contextLength: number | null;
  readonly price: PriceSource;
}

/** Configured prices in USD per million tokens, with the configuration file's keys. */
export interface ConfiguredPrice {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite5m?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
  readonly inputAudio?: number | undefined;
  readonly outputAudio?: number | undefined;
  readonly request?: number | undefined;
  readonly tools?: Readonly<Record<string, number>> | undefined;
}

/** No known price. */
export const UNKNOWN_PRICE: PriceSource = () => null;

/**
 * All current models that the library lists for a vendor, without deprecated ones.
 * @param priceId the vendor's id in the library; an unknown id gives an empty list
 * @param now Unix milliseconds, for time-dependent prices
 */
export function libraryModels(
  priceId: string,
  now: () => UnixMs,
  book: PriceBook = BUNDLED_PRICES,
): readonly LibraryModel[] {
  const vendor = book.vendor(priceId);
  if (!vendor) return [];
  return vendor.models.flatMap((info) => {
    const name = info.deprecated === true ? null : upstreamName(info);
    return name === null ? [] : [toLibraryModel(info, name, now, book)];
  });
}

/**
 * A model by the name its vendor's API uses, including dated names; null if unknown. Takes tens of microseconds, so
 * results should be cached.
 */
export function libraryModel(
  priceId: string,
  name: string,
  now: () => UnixMs,
  book: PriceBook = BUNDLED_PRICES,
): LibraryModel | null {
  const vendor = book.vendor(priceId);
  const found = vendor && findPriced(book, vendor, name);
  return found ? toLibraryModel(found, name, now, book) : null;
}

/** The operator's price, which replaces the library's completely. */
export function configuredPrice(given: ConfiguredPrice): PriceSource {
  const price: Price = Object.freeze({ ...given, source: 'config' });
  return () => price;
}

/** A price with all token and request rates multiplied. Tool prices are unchanged. */
export function scaledPrice(source: PriceSource, factor: number): PriceSource {
  if (factor === 1) return source;
  let last: { readonly of: Price; readonly scaled: Price } | undefined;
  return () => {
    const price = source();
    if (!price) return null;
    if (last?.of !== price) last = { of: price, scaled: scaled(price, factor) };
    return last.scaled;
  };
}

function scaled({ source, isKept, tools, request, ...rates }: Price, factor: number): Price {
  const rate = (given: Rate): Rate =>
    typeof given === 'number'
      ? given * factor
      : {
          base: given.base * factor,
          steps: given.steps.map((step) => ({ ...step, rate: step.rate * factor })),
        };
  const lower = Object.entries(rates).map(([name, given]) => [
    name,
    given === undefined ? given : rate(given),
  ]);
  return Object.freeze({
    ...(Object.fromEntries(lower) as typeof rates),
    ...(request !== undefined && { request: request * factor }),
    ...(tools && { tools }),
    ...(isKept !== undefined && { isKept }),
    source: `${source}; batch: x ${factor}`,
  });
}

/** Price of a model without output tokens: output is free. */
export function withoutOutput(source: PriceSource): PriceSource {
  return () => {
    const price = source();
    return price && price.output === undefined ? Object.freeze({ ...price, output: 0 }) : price;
  };
}

function toLibraryModel(
  info: PricedModel,
  name: string,
  now: () => UnixMs,
  { version }: PriceBook,
): LibraryModel {
  const mark = markOf(info, version);
  return {
    id: info.id,
    name,
    displayName: info.name ?? null,
    contextLength: info.context_window ?? null,
    price: isList(info.prices) ? changingPrice(info, mark, now) : fixedPrice(info.prices, mark),
  };
}

/** Source of a price, and whether it or a part of it is missing in newer data. */
type Mark = Pick<Price, 'source' | 'isKept'>;

function markOf({ source, kept, gone }: PricedModel, version: string): Mark {
  const from = source ?? version;
  if (gone === true) return { source: from, isKept: true };
  if (!kept) return { source: from };
  const parts = Object.entries(kept).map(([key, older]) => `${key} of ${older}`);
  return { source: `${from}; kept: ${parts.join(', ')}`, isKept: true };
}

function fixedPrice(given: PriceValues, mark: Mark): PriceSource {
  const price = toPrice(given, mark);
  return () => price;
}

/** A time-dependent price, evaluated at most once a minute. */
function changingPrice(info: PricedModel, mark: Mark, now: () => UnixMs): PriceSource {
  let minute = -1;
  let price: Price | null = null;
  return () => {
    const time = now();
    const current = Math.floor(time / 60_000);
    if (current !== minute) {
      minute = current;
      price = toPrice(pricesAt(info, time), mark);
    }
    return price;
  };
}

/** Converts the library's keys. Keys without an equivalent are dropped; none of them is for text tokens. */
function toPrice(given: PriceValues, mark: Mark): Price | null {
  const tools: Record<string, number> = {};
  addTool(tools, 'web_search', given['web_searches_kcount']);
  addTool(tools, 'file_search', given['storage_searches_kcount']);
  const request = given['requests_kcount'];
  const price: Price = {
    ...rateOf('input', given['input_mtok']),
    ...rateOf('output', given['output_mtok']),
    ...rateOf('cacheRead', given['cache_read_mtok']),
    ...rateOf('cacheWrite5m', given['cache_write_mtok']),
    ...rateOf('cacheWrite1h', given['cache_write_1h_mtok']),
    ...rateOf('inputAudio', given['input_audio_mtok']),
    ...rateOf('outputAudio', given['output_audio_mtok']),
    ...rateOf('inputImage', given['input_image_mtok']),
    ...rateOf('outputReasoning', given['output_reasoning_mtok']),
    ...(typeof request === 'number' ? { request: request / 1000 } : {}),
    ...(Object.keys(tools).length > 0 ? { tools: Object.freeze(tools) } : {}),
    ...mark,
  };
  return price.input === undefined && price.output === undefined ? null : Object.freeze(price);
}

type RateKey = Exclude<keyof Price, 'request' | 'tools' | 'source' | 'isKept'>;

function rateOf(key: RateKey, value: PriceValue | undefined): Partial<Record<RateKey, Rate>> {
  if (value === undefined) return {};
  if (typeof value === 'number') return { [key]: value };
  const steps = value.tiers
    .map((tier) => Object.freeze({ above: tier.start, rate: tier.price }))
    .sort((a, b) => a.above - b.above);
  return { [key]: Object.freeze({ base: value.base, steps: Object.freeze(steps) }) };
}

function addTool(tools: Record<string, number>, name: string, perThousand: PriceValue | undefined): void {
  if (typeof perThousand === 'number') tools[name] = perThousand / 1000;
}

/**
 * The API's name of a model. The library's id may differ from it: if its match rule does not accept the id, the first
 * literal name of the rule is used (`accounts/fireworks/models/…`). Null if the rule contains only a pattern (`ft:…`),
 * because it then stands for many models.
 */
function upstreamName(info: PricedModel): string | null {
  const names = literalNames(info.match);
  const lower = info.id.toLowerCase();
  // The library ignores case, but most APIs do not. A rule with a lower-case id shows the API's spelling.
  if (names.includes(lower)) return lower;
  if (names.includes(info.id) || accepts(info.match, lower)) return info.id;
  return names[0] ?? null;
}

function literalNames(match: MatchRule): readonly string[] {
  if ('equals' in match) return [match.equals];
  if ('or' in match) return match.or.flatMap(literalNames);
  return [];
}

/** Values of OpenAI, Anthropic and Groq for the standard tier or the account's default (API references, 2026-11). */
const USUAL: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand']);

/** True if a request is charged at the catalog's prices. False for other service tiers, whose prices are unknown. */
export function isListPriced(
  { serviceTier, protocol }: Pick<CanonicalRequest, 'serviceTier' | 'protocol'>,
  endpoint: Pick<Endpoint, 'protocol'>,
): boolean {
  if (serviceTier === undefined || USUAL.has(serviceTier)) return true;
  // Other protocols drop the service tier.
  return protocol !== endpoint.protocol && !sharesMembers(protocol, endpoint.protocol);
}

/** Rate of a small prompt; price steps apply to very large ones. */
export function baseRate(rate: Rate | undefined): number | null {
  if (rate === undefined) return null;
  return typeof rate === 'number' ? rate : rate.base;
}
