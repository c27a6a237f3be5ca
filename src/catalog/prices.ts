// Prices and model lists of vendors, turned into our own shape when a catalog is built. Knows the form of the price
// library's data, and not its calculator, which is far too slow to be asked per request. Never fetches anything.
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

/** Current price of a model. Some vendors charge by the hour of the day, so it may change. */
export type PriceSource = () => Price | null;

/** A model as the price library knows it. */
export interface LibraryModel {
  /** The name that the library files it under. */
  readonly id: string;
  /** The name that the vendor's API takes. */
  readonly name: string;
  readonly displayName: string | null;
  /** Tokens; null when unknown. */
  readonly contextLength: number | null;
  readonly price: PriceSource;
}

/** USD per million tokens as the operator writes them; keys as in the configuration file. */
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

/** No price is known. */
export const UNKNOWN_PRICE: PriceSource = () => null;

/**
 * Every current model that the library lists for a vendor, deprecated ones left out.
 * @param priceId the vendor's id in the library; an id it does not know gives an empty list
 * @param now Unix milliseconds, for prices that depend on the time
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
 * One model by the name its vendor's API takes, dated names included; null when the library does not know it.
 * Costs tens of microseconds: keep the result.
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

/** The operator's own price: it replaces the library's as a whole. */
export function configuredPrice(given: ConfiguredPrice): PriceSource {
  const price: Price = Object.freeze({ ...given, source: 'config' });
  return () => price;
}

/** The same with another level of all rates for tokens and requests. Tools cost what they cost. */
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

/** The price of a model that writes nothing: what it does not write costs nothing. */
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

/** Source of a price, and whether newer data lacks it or a part of it. */
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

/** A price with dates or hours: looked up at most once a minute. */
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

/** The library's keys in our words. A key that has no place here is left out: none of them counts text tokens. */
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
 * The library's id is its own name for the model, not always the API's: where its rule for matching does not
 * accept the id, the first literal name of the rule is what the vendor takes (`accounts/fireworks/models/…`).
 * Null when the rule names only a pattern (`ft:…`): there is no such model, only models like it.
 */
function upstreamName(info: PricedModel): string | null {
  const names = literalNames(info.match);
  const lower = info.id.toLowerCase();
  // The library ignores case, most vendors do not: a rule that spells the id in lower case says how the API does.
  if (names.includes(lower)) return lower;
  if (names.includes(info.id) || accepts(info.match, lower)) return info.id;
  return names[0] ?? null;
}

function literalNames(match: MatchRule): readonly string[] {
  if ('equals' in match) return [match.equals];
  if ('or' in match) return match.or.flatMap(literalNames);
  return [];
}

/** Words of OpenAI, Anthropic and Groq for the usual service, and for what the account is set to (API references, 2026-11). */
const USUAL: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand']);

/**
 * True for a request that is charged by the prices of the catalog. False where it asks the vendor for another service than the
 * usual one, which costs more or less by a price that nobody knows.
 */
export function isListPriced(
  { serviceTier, protocol }: Pick<CanonicalRequest, 'serviceTier' | 'protocol'>,
  endpoint: Pick<Endpoint, 'protocol'>,
): boolean {
  if (serviceTier === undefined || USUAL.has(serviceTier)) return true;
  // To any other protocol it is dropped.
  return protocol !== endpoint.protocol && !sharesMembers(protocol, endpoint.protocol);
}
