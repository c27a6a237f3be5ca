// Price data in the form of `@pydantic/genai-prices`: lookup of model names, and prices at a given time.

/** Rule that matches model names. Case is ignored, except in patterns. */
export type MatchRule =
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }
  | { readonly or: readonly MatchRule[] }
  | { readonly and: readonly MatchRule[] };

/** USD per unit of the key, with optional steps by prompt tokens. */
export type PriceValue =
  | number
  | {
      readonly base: number;
      readonly tiers: readonly { readonly start: number; readonly price: number }[];
    };

/** By key: `input_mtok` is USD per million input tokens, `requests_kcount` USD per thousand requests. */
export type PriceValues = Readonly<Record<string, PriceValue | undefined>>;

export interface ConditionalPrices {
  readonly constraint?:
    | { readonly type: 'start_date'; readonly start_date: string }
    | { readonly type: 'time_of_date'; readonly start_time: string; readonly end_time: string }
    | undefined;
  readonly prices: PriceValues;
}

export interface PricedModel {
  readonly id: string;
  readonly name?: string | undefined;
  readonly match: MatchRule;
  /** Tokens. */
  readonly context_window?: number | undefined;
  readonly deprecated?: boolean | undefined;
  readonly prices: PriceValues | readonly ConditionalPrices[];
  /** Version of the data that contained it last. Absent: that of the book. */
  readonly source?: string | undefined;
  /** Prices that are missing in newer data, with the version they come from. */
  readonly kept?: Readonly<Record<string, string>> | undefined;
  /** True if newer data does not contain the model. */
  readonly gone?: boolean | undefined;
}

export interface Vendor {
  readonly id: string;
  readonly models: readonly PricedModel[];
  /** Vendors whose models this one also serves. */
  readonly fallback_model_providers?: readonly string[] | undefined;
}

/** Prices of all vendors in one version. Immutable. */
export interface PriceBook {
  /** Version as written to records. */
  readonly version: string;
  /** @param id exact id of the vendor */
  vendor(id: string): Vendor | undefined;
  /** Vendors with newer data than the bundled one, which must be stored. */
  readonly vendors: () => readonly Vendor[];
}

/** Maximum length of names to look up, because clients choose them freely. Real names are shorter. */
const LONGEST_NAME = 200;

/** The model that a vendor means by a name. A date without dashes also matches one with dashes. */
export function findPriced(book: PriceBook, vendor: Vendor, name: string): PricedModel | undefined {
  const lower = name.toLowerCase().trim();
  if (lower.length > LONGEST_NAME) return undefined;
  const vendors = [vendor, ...(vendor.fallback_model_providers ?? []).flatMap((id) => book.vendor(id) ?? [])];
  const dashed = lower.replace(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3');
  for (const each of dashed === lower ? [lower] : [lower, dashed])
    for (const { models } of vendors) {
      const found = models.find((model) => accepts(model.match, each));
      if (found) return found;
    }
  return undefined;
}

/** Prices at a time: the last entry whose condition holds, or else the first. @param time Unix milliseconds */
export function pricesAt({ prices }: PricedModel, time: number): PriceValues {
  if (!isList(prices)) return prices;
  const second = Math.floor(time / 1000) % 86_400;
  const holds = prices.findLast(({ constraint }) => {
    if (constraint === undefined) return true;
    if (constraint.type === 'start_date') return time >= Date.parse(constraint.start_date);
    const [start, end] = [secondOfDay(constraint.start_time), secondOfDay(constraint.end_time)];
    return end < start ? second >= start || second < end : second >= start && second < end;
  });
  return (holds ?? prices[0])?.prices ?? {};
}

/** True for prices that depend on the time. */
export function isList(prices: PricedModel['prices']): prices is readonly ConditionalPrices[] {
  return Array.isArray(prices);
}

/** Converts `15:30:00Z` or `15:30:00+02:00` to seconds since midnight, UTC. */
function secondOfDay(time: string): number {
  const [, h = 0, m = 0, s = 0, sign = '+', offsetH = 0, offsetM = 0] =
    /^(\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|([+-])(\d{2}):?(\d{2}))?$/.exec(time) ?? [];
  const offset = (Number(offsetH) * 3600 + Number(offsetM) * 60) * (sign === '-' ? -1 : 1);
  return (Number(h) * 3600 + Number(m) * 60 + Number(s) - offset + 86_400) % 86_400;
}

const compiled = new WeakMap<MatchRule, RegExp>();

/** True if a rule matches a lower-case name by prefix, suffix, substring or pattern. */
export function accepts(rule: MatchRule, lower: string): boolean {
  if ('equals' in rule) return lower === rule.equals.toLowerCase();
  if ('starts_with' in rule) return lower.startsWith(rule.starts_with.toLowerCase());
  if ('ends_with' in rule) return lower.endsWith(rule.ends_with.toLowerCase());
  if ('contains' in rule) return lower.includes(rule.contains.toLowerCase());
  if ('or' in rule) return rule.or.some((each) => accepts(each, lower));
  if ('and' in rule) return rule.and.every((each) => accepts(each, lower));
  let regex = compiled.get(rule);
  if (!regex) compiled.set(rule, (regex = new RegExp(rule.regex)));
  return regex.test(lower);
}
