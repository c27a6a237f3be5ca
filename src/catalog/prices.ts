// Prices and model lists from the price library's bundled data, turned into our own shape when a catalog is
// built: the library's calculator is far too slow to be asked per request. Never fetches anything.
import { calcPrice, findProvider } from '@pydantic/genai-prices';
import type { ModelInfo, ModelPrice } from '@pydantic/genai-prices';
import type { Price, Rate } from './price.ts';

/** Version of the bundled data; a test compares it with the installed package. */
export const PRICE_LIBRARY = '@pydantic/genai-prices 0.1.8';

/** What a model costs at this moment. Some vendors charge by the hour of the day, so it may change. */
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
export function libraryModels(priceId: string, now: () => number): readonly LibraryModel[] {
  const provider = exactProvider(priceId);
  if (!provider) return [];
  return provider.models.flatMap((info) => {
    const name = info.deprecated === true ? null : upstreamName(info);
    return name === null ? [] : [toLibraryModel(priceId, info, name, now)];
  });
}

/**
 * One model by the name its vendor's API takes, dated names included; null when the library does not know it.
 * Costs tens of microseconds: keep the result.
 */
export function libraryModel(priceId: string, name: string, now: () => number): LibraryModel | null {
  if (!exactProvider(priceId)) return null;
  const found = calcPrice(NO_TOKENS, name, { providerId: priceId, timestamp: new Date(now()) });
  return found ? toLibraryModel(priceId, found.model, name, now) : null;
}

/** The operator's own price: it replaces the library's as a whole. */
export function configuredPrice(given: ConfiguredPrice): PriceSource {
  const price: Price = Object.freeze({ ...given, source: 'config' });
  return () => price;
}

/** The price of a model that writes nothing: what it does not write costs nothing. */
export function withoutOutput(source: PriceSource): PriceSource {
  return () => {
    const price = source();
    return price && price.output === undefined ? Object.freeze({ ...price, output: 0 }) : price;
  };
}

const NO_TOKENS = { input_tokens: 0 };

/** The library also matches loosely (`my-openai` is OpenAI); an operator's own server must not inherit prices. */
function exactProvider(priceId: string): ReturnType<typeof findProvider> {
  const provider = findProvider({ providerId: priceId });
  return provider?.id === priceId ? provider : undefined;
}

function toLibraryModel(priceId: string, info: ModelInfo, name: string, now: () => number): LibraryModel {
  return {
    id: info.id,
    name,
    displayName: info.name ?? null,
    contextLength: info.context_window ?? null,
    price: Array.isArray(info.prices) ? changingPrice(priceId, name, now) : fixedPrice(info.prices),
  };
}

function fixedPrice(given: ModelPrice): PriceSource {
  const price = toPrice(given);
  return () => price;
}

/** A price with dates or hours: looked up at most once a minute. */
function changingPrice(priceId: string, name: string, now: () => number): PriceSource {
  let minute = -1;
  let price: Price | null = null;
  return () => {
    const time = now();
    const current = Math.floor(time / 60_000);
    if (current !== minute) {
      minute = current;
      const found = calcPrice(NO_TOKENS, name, { providerId: priceId, timestamp: new Date(time) });
      price = found ? toPrice(found.model_price) : null;
    }
    return price;
  };
}

/** The library's keys in our words. A key that has no place here is left out: none of them counts text tokens. */
function toPrice(given: ModelPrice): Price | null {
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
    source: PRICE_LIBRARY,
  };
  return price.input === undefined && price.output === undefined ? null : Object.freeze(price);
}

type RateKey = Exclude<keyof Price, 'request' | 'tools' | 'source'>;

function rateOf(key: RateKey, value: ModelPrice[string]): Partial<Record<RateKey, Rate>> {
  if (value === undefined) return {};
  if (typeof value === 'number') return { [key]: value };
  const steps = value.tiers
    .map((tier) => Object.freeze({ above: tier.start, rate: tier.price }))
    .sort((a, b) => a.above - b.above);
  return { [key]: Object.freeze({ base: value.base, steps: Object.freeze(steps) }) };
}

function addTool(tools: Record<string, number>, name: string, perThousand: ModelPrice[string]): void {
  if (typeof perThousand === 'number') tools[name] = perThousand / 1000;
}

/**
 * The library's id is its own name for the model, not always the API's: where its rule for matching does not
 * accept the id, the first literal name of the rule is what the vendor takes (`accounts/fireworks/models/…`).
 * Null when the rule names only a pattern (`ft:…`): there is no such model, only models like it.
 */
function upstreamName(info: ModelInfo): string | null {
  const names = literalNames(info.match);
  const lower = info.id.toLowerCase();
  // The library ignores case, most vendors do not: a rule that spells the id in lower case says how the API does.
  if (names.includes(lower)) return lower;
  if (names.includes(info.id) || accepts(info.match, lower)) return info.id;
  return names[0] ?? null;
}

function literalNames(match: ModelInfo['match']): readonly string[] {
  if ('equals' in match) return [match.equals];
  if ('or' in match) return match.or.flatMap(literalNames);
  return [];
}

/** True when a rule of prefixes, endings, fragments or patterns takes the name. */
function accepts(match: ModelInfo['match'], lower: string): boolean {
  if ('regex' in match) return new RegExp(match.regex).test(lower);
  if ('ends_with' in match) return lower.endsWith(match.ends_with.toLowerCase());
  if ('starts_with' in match) return lower.startsWith(match.starts_with.toLowerCase());
  if ('contains' in match) return lower.includes(match.contains.toLowerCase());
  if ('or' in match) return match.or.some((rule) => accepts(rule, lower));
  if ('and' in match) return match.and.every((rule) => accepts(rule, lower));
  return false;
}
