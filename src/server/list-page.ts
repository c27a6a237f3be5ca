// Paginated lists in OpenAI's format: query parameters and response envelope.
import { z } from 'zod';
import type { JsonObject } from '../base/json/index.ts';
import { INCLUDABLE, invalidMember, TEXTS } from '../canonical/index.ts';
import type { ItemPage, PageRequest } from '../accounts/ports/index.ts';

/** Query parameters of a paginated list. @param most maximum `limit` @param usual default `limit` */
export function pageQuery(most = 100, usual = 20) {
  return {
    limit: pageSize(most, usual),
    after: z.string().optional().describe('The id of the last entry of the previous page.'),
    order: z.enum(['asc', 'desc'], 'must be asc or desc').default('desc').describe('By time.'),
  };
}

/** Query parameter for the page size. */
export function pageSize(most: number, usual = 20) {
  const wrong = TEXTS.mustBeInteger(1, most);
  return z.coerce
    .number(wrong)
    .int(wrong)
    .min(1, wrong)
    .max(most, wrong)
    .default(usual)
    .describe(TEXTS.pageSize);
}

/** A page as `encodePage` makes it. */
export function pageShape<Entry extends z.ZodType>(entry: Entry) {
  return z.object({
    data: z.array(entry),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  });
}

/** Query parameter for additional members of items, read by `readInclude`. */
export const INCLUDE = {
  'include[]': z.string().optional().describe('Additional fields of the items.'),
};

/** Event number in a query. */
export const eventNumber = z.coerce
  .number(TEXTS.mustBeEventNumber)
  .int(TEXTS.mustBeEventNumber)
  .min(0, TEXTS.mustBeEventNumber)
  .optional();

/** Response about a deleted object. */
export const deletedShape = z.looseObject({ id: z.string(), deleted: z.literal(true) });

/**
 * Reads `include`, including the list notation of SDKs: `include[]=a&include[]=b`, `include[0]=a`.
 * @throws GatewayError `invalid_request` for an unknown value
 */
export function readInclude(query: URLSearchParams): ReadonlySet<string> {
  const include = new Set<string>();
  for (const [name, value] of query) if (/^include(\[\d*\])?$/.test(name)) include.add(value);
  for (const word of include)
    if (!INCLUDABLE.has(word)) throw invalidMember('include', TEXTS.mustBeOneOf([...INCLUDABLE].join(', ')));
  return include;
}

/** A page of a list that is completely in memory. @throws GatewayError `invalid_request` for an unknown `after` */
export function pageOf(items: readonly JsonObject[], { after, limit, order }: PageRequest): ItemPage {
  const ordered = order === 'asc' ? items : items.toReversed();
  const before = after === undefined ? -1 : ordered.findIndex((item) => item['id'] === after);
  if (after !== undefined && before === -1) throw invalidMember('after', TEXTS.notInList(after));
  const start = before + 1;
  return { items: ordered.slice(start, start + limit), hasMore: ordered.length > start + limit };
}

/** `{object: "list", …}` around the entries of one page. */
export function encodeList(data: readonly JsonObject[], hasMore: boolean): JsonObject {
  return { object: 'list', ...encodePage(data, hasMore) };
}

/** The entries of one page, with the ids of the first and last. */
export function encodePage(data: readonly JsonObject[], hasMore: boolean): JsonObject {
  return {
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: hasMore,
  };
}
