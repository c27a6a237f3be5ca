// Validates prices and models from a source: everything must be small and harmless. Name patterns are applied to names
// from clients, so slow patterns are refused.
import { configNodeAt } from './schema.ts';
import { describeIssues } from '../../../catalog/schema/index.ts';
import { z } from 'zod';
import { nestsDeeper, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { MatchRule, PricedModel, Vendor } from '../../../catalog/index.ts';
import { MOST_PRICE_BYTES } from '../price-source-text.ts';

const DEEPEST = 32;
const MOST_VENDORS = 500;
const MOST_MODELS = 5000;
const MOST_RULES = 300;
const MOST_PRICES = 64;
/** USD per million tokens, or per thousand requests. */
const HIGHEST_PRICE = 1_000_000;

const name = z.string().min(1).max(200);
const amount = z.number().min(0).max(HIGHEST_PRICE);
const tokens = z.number().int().min(0).max(1_000_000_000);

const pattern = z
  .string()
  .max(300)
  .refine(isHarmless, 'is a pattern that could take long, or none: one `*`, `+` or `{}` at most');

const rule: z.ZodType<MatchRule> = z.lazy(() =>
  z.union([
    z.object({ equals: name }),
    z.object({ starts_with: name }),
    z.object({ ends_with: name }),
    z.object({ contains: name }),
    z.object({ regex: pattern }),
    z.object({ or: z.array(rule).max(MOST_RULES) }),
    z.object({ and: z.array(rule).max(MOST_RULES) }),
  ]),
);

const steps = z.object({
  base: amount,
  tiers: z.array(z.object({ start: tokens, price: amount })).max(20),
});
/** A null price counts as absent. */
const prices = z
  .record(z.string().max(60), z.union([amount, steps, z.null()]))
  .refine((all) => Object.keys(all).length <= MOST_PRICES, `has more than ${MOST_PRICES} prices`)
  .transform((all) =>
    Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [[key, value]]))),
  );

const time = z
  .string()
  .regex(/^\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/, 'is no time of day');
/** Published with and without a type. */
const constraint = z.union([
  z
    .object({ start_date: z.iso.date() })
    .transform(({ start_date }) => ({ type: 'start_date', start_date }) as const),
  z
    .object({ start_time: time, end_time: time })
    .transform(({ start_time, end_time }) => ({ type: 'time_of_date', start_time, end_time }) as const),
]);
const conditional = z.object({ constraint: constraint.nullish().transform((it) => it ?? undefined), prices });

const model: z.ZodType<PricedModel> = z.object({
  id: name,
  name: z
    .string()
    .max(300)
    .nullish()
    .transform((it) => it ?? undefined),
  match: rule,
  context_window: tokens.nullish().transform((it) => it || undefined),
  deprecated: z
    .boolean()
    .nullish()
    .transform((it) => it ?? undefined),
  prices: z.union([z.array(conditional).min(1).max(50), prices]),
});
/** Models are validated one by one. */
const vendor = z.object({
  id: name,
  models: z.array(z.unknown()).max(MOST_MODELS),
  fallback_model_providers: z
    .array(name)
    .max(20)
    .nullish()
    .transform((it) => it ?? undefined),
});
const vendors = z.array(z.unknown()).min(1, 'has no vendors').max(MOST_VENDORS);

/** Models validated between two pauses: one or two milliseconds. */
const MODELS_AT_ONCE = 32;

/**
 * Validates published data; other work may run at each `yield`.
 * @throws GatewayError `invalid_request` naming the first invalid place
 */
export function* checkPriceData(text: string): Generator<void, readonly Vendor[]> {
  if (text.length > MOST_PRICE_BYTES) throw broken(`is larger than ${MOST_PRICE_BYTES} bytes`);
  if (nestsDeeper(text, DEEPEST)) throw broken(`nests deeper than ${DEEPEST} levels`);
  yield;
  const value = parseJson(text);
  if (value === undefined) throw broken('is no JSON');
  const checked = new Map<string, Vendor>();
  let models = 0;
  for (const [at, given] of checkedBy(vendors, value, []).entries()) {
    const { models: listed, ...rest } = checkedBy(vendor, given, [at]);
    if (checked.has(rest.id)) throw broken('names a vendor twice');
    const known: PricedModel[] = [];
    for (const [place, each] of listed.entries()) {
      known.push(checkedBy(model, each, [at, 'models', place]));
      if (++models % MODELS_AT_ONCE === 0) yield;
    }
    checked.set(rest.id, { ...rest, models: known });
  }
  return [...checked.values()];
}

/** @param path of the value in the whole data */
function checkedBy<Out>(schema: z.ZodType<Out>, value: unknown, path: readonly PropertyKey[]): Out {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const issues = checked.error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
  const [first] = describeIssues(issues, configNodeAt);
  const place = first?.path ? `${first.path} ` : '';
  throw broken(`${place}${first?.message ?? 'is not valid'}`.slice(0, 500));
}

function broken(reason: string): GatewayError {
  return new GatewayError('invalid_request', reason);
}

/**
 * True for a pattern with at most quadratic time in the length of a name: only single classes or letters may repeat
 * without bound, and no groups.
 */
function isHarmless(source: string): boolean {
  if (!isRegex(source)) return false;
  const simplified = source.replace(/\\./g, 'a').replace(/\[[^\]]*\]/g, 'a');
  if (/\\[1-9k]/.test(source) || /\)(?:[*+]|\{)/.test(simplified)) return false;
  if ((simplified.match(/[*+]|\{\d+,\d*\}/g) ?? []).length > 1) return false;
  return [...simplified.matchAll(/\{(\d+)\}/g)].every(([, times]) => Number(times) <= 64);
}

function isRegex(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}
