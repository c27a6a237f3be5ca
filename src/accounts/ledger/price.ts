// Computes the cost of a usage at an endpoint's price.
import type { JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import type { Usage } from '../../canonical/index.ts';
import { inputTokens } from '../../canonical/index.ts';
import type { Price, Rate } from '../../catalog/index.ts';
import type { Cost } from './record.ts';

// Sums are computed in whole picodollars. A rate with up to six decimals in USD per million tokens is a whole number of
// them per token, so that items add up exactly and no 0.30000000000000004 is shown.
const PICO_PER_USD = 1e12;
const PICO_PER_TOKEN = 1e6;

interface Bill {
  readonly items: Record<string, number>;
  /** False if the price of a used class is unknown. */
  complete: boolean;
}

/**
 * Cost of a usage at a price.
 * @returns `usd` is null, never 0, if there is no price, or no rate for a used token class or tool. `items` then contains
 * the known part
 */
export function costOf(usage: Usage, price: Price | null): Cost {
  if (!price) return { usd: null, items: {}, price: null };
  const prompt = inputTokens(usage);
  const rates = ratesAt(price, prompt);
  const bill: Bill = { items: {}, complete: true };
  const { input: i, output: o } = usage;
  charge(bill, 'input', i.uncached, rates.input);
  charge(bill, 'input', i.image, rates.inputImage);
  charge(bill, 'input', i.audio, rates.inputAudio);
  charge(bill, 'cache_read', i.cacheRead, rates.cacheRead);
  charge(bill, 'cache_write_5m', i.cacheWrite5m, rates.cacheWrite5m);
  charge(bill, 'cache_write_1h', i.cacheWrite1h, rates.cacheWrite1h);
  charge(bill, 'output', o.text, rates.output);
  charge(bill, 'output', o.reasoning, rates.outputReasoning);
  charge(bill, 'output', o.audio, rates.outputAudio);
  for (const name in usage.tools) {
    const rate = price.tools && Object.hasOwn(price.tools, name) ? price.tools[name] : undefined;
    add(bill, 'tools', usage.tools[name] ?? 0, rate, PICO_PER_USD);
  }
  if (price.request !== undefined) add(bill, 'request', 1, price.request, PICO_PER_USD);
  return finish(bill, snapshot(rates, price));
}

/** Prices per token for estimates, in nano-dollars. */
export interface TokenPrices {
  /** Uncached input token; undefined: unknown. */
  readonly input: number | undefined;
  readonly output: number | undefined;
  /** Price per request. */
  readonly request: number;
}

/** Nano-dollars per token at 1 USD per million tokens, and nano-dollars per USD. */
const NANO_PER_RATE = 1e3;
const NANO_PER_USD = 1e9;

/** Rates of a price for a prompt of this size, for estimates. */
export function tokenPrices(price: Price, promptTokens: number): TokenPrices {
  const input = rateAt(price.input, promptTokens);
  const output = rateAt(price.output, promptTokens);
  return {
    input: input === undefined ? undefined : input * NANO_PER_RATE,
    output: output === undefined ? undefined : output * NANO_PER_RATE,
    request: (price.request ?? 0) * NANO_PER_USD,
  };
}

/**
 * Cost of calls of the gateway's own tools.
 * @param priceOf USD per call; null: unknown, which makes the whole unknown
 */
export function costOfUses(
  uses: Readonly<Record<string, number>>,
  priceOf: (tool: string) => number | null,
): Cost {
  const bill: Bill = { items: {}, complete: true };
  const prices: Record<string, JsonValue> = {};
  for (const name in uses) {
    prices[name] = priceOf(name);
    add(bill, 'tools', uses[name] ?? 0, priceOf(name) ?? undefined, PICO_PER_USD);
  }
  return finish(bill, { tools: prices, source: 'configuration' });
}

/**
 * Sums the costs of attempts.
 * @param costs null for attempts that were not charged. Without any charged attempt the cost is 0
 * @returns `price` is the common price of the attempts, or else a list in their order
 */
export function sumCosts(costs: readonly (Cost | null)[]): Cost {
  const charged = costs.filter((cost) => cost !== null);
  const [only] = charged;
  if (only && charged.length === 1) return only;
  const bill: Bill = { items: {}, complete: true };
  for (const cost of charged) {
    if (cost.usd === null) bill.complete = false;
    for (const name in cost.items)
      bill.items[name] = (bill.items[name] ?? 0) + Math.round((cost.items[name] ?? 0) * PICO_PER_USD);
  }
  const prices = new Map(charged.map((cost) => [JSON.stringify(cost.price), cost.price]));
  return finish(bill, prices.size > 1 ? charged.map((cost) => cost.price) : (only?.price ?? null));
}

/** Rates for a prompt of this size, in USD per million tokens. A class without a rate inherits that of its parent. */
interface Rates {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite5m: number | undefined;
  readonly cacheWrite1h: number | undefined;
  readonly inputAudio: number | undefined;
  readonly inputImage: number | undefined;
  readonly outputAudio: number | undefined;
  readonly outputReasoning: number | undefined;
}

function ratesAt(price: Price, promptTokens: number): Rates {
  const input = rateAt(price.input, promptTokens);
  const output = rateAt(price.output, promptTokens);
  const cacheWrite5m = rateAt(price.cacheWrite5m, promptTokens) ?? input;
  return {
    input,
    output,
    cacheRead: rateAt(price.cacheRead, promptTokens) ?? input,
    cacheWrite5m,
    // No vendor charges less for a one hour cache write than for five minutes.
    cacheWrite1h: rateAt(price.cacheWrite1h, promptTokens) ?? cacheWrite5m,
    inputAudio: rateAt(price.inputAudio, promptTokens) ?? input,
    inputImage: rateAt(price.inputImage, promptTokens) ?? input,
    outputAudio: rateAt(price.outputAudio, promptTokens) ?? output,
    outputReasoning: rateAt(price.outputReasoning, promptTokens) ?? output,
  };
}

function rateAt(rate: Rate | undefined, promptTokens: number): number | undefined {
  if (rate === undefined || typeof rate === 'number') return rate;
  let found = rate.base;
  for (const step of rate.steps) {
    if (promptTokens <= step.above) break;
    found = step.rate;
  }
  return found;
}

function charge(bill: Bill, item: string, tokens: number, rate: number | undefined): void {
  add(bill, item, tokens, rate, PICO_PER_TOKEN);
}

function add(bill: Bill, item: string, count: number, rate: number | undefined, picoPerUnit: number): void {
  if (!(count > 0)) return;
  if (rate === undefined) {
    bill.complete = false;
    return;
  }
  bill.items[item] = (bill.items[item] ?? 0) + Math.round(count * rate * picoPerUnit);
}

function finish(bill: Bill, price: JsonValue): Cost {
  let pico = 0;
  const items: Record<string, number> = {};
  for (const name in bill.items) {
    const amount = bill.items[name] ?? 0;
    pico += amount;
    items[name] = amount / PICO_PER_USD;
  }
  return { usd: bill.complete ? pico / PICO_PER_USD : null, items, price };
}

/**
 * Stored rates of a price at its last tier. One object for all of its records, so that they are stored once.
 */
const SNAPSHOTS = new WeakMap<Price, { readonly rates: Rates; readonly kept: JsonValue }>();

/** Rates as stored in a record: those that the price states, at this prompt's tier. */
function snapshot(rates: Rates, price: Price): JsonValue {
  const last = SNAPSHOTS.get(price);
  if (last && areSame(last.rates, rates)) return last.kept;
  const kept = newSnapshot(rates, price);
  SNAPSHOTS.set(price, { rates, kept });
  return kept;
}

function areSame(a: Rates, b: Rates): boolean {
  return (
    a.input === b.input &&
    a.output === b.output &&
    a.cacheRead === b.cacheRead &&
    a.cacheWrite5m === b.cacheWrite5m &&
    a.cacheWrite1h === b.cacheWrite1h &&
    a.inputAudio === b.inputAudio &&
    a.inputImage === b.inputImage &&
    a.outputAudio === b.outputAudio &&
    a.outputReasoning === b.outputReasoning
  );
}

function newSnapshot(rates: Rates, price: Price): JsonValue {
  const kept: MutableJsonObject = {};
  if (rates.input !== undefined) kept['input'] = rates.input;
  if (rates.output !== undefined) kept['output'] = rates.output;
  if (price.cacheRead !== undefined) kept['cache_read'] = rates.cacheRead;
  if (price.cacheWrite5m !== undefined) kept['cache_write_5m'] = rates.cacheWrite5m;
  if (price.cacheWrite1h !== undefined) kept['cache_write_1h'] = rates.cacheWrite1h;
  if (price.inputAudio !== undefined) kept['input_audio'] = rates.inputAudio;
  if (price.inputImage !== undefined) kept['input_image'] = rates.inputImage;
  if (price.outputAudio !== undefined) kept['output_audio'] = rates.outputAudio;
  if (price.outputReasoning !== undefined) kept['output_reasoning'] = rates.outputReasoning;
  if (price.request !== undefined) kept['request'] = price.request;
  if (price.tools !== undefined) kept['tools'] = { ...price.tools };
  kept['source'] = price.source;
  if (price.isKept === true) kept['kept'] = true;
  return kept;
}
