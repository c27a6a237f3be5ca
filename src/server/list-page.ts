// Lists in pages, as OpenAI has them: the query that asks for a page, and the envelope around one. Knows no list.
import { z } from 'zod';
import type { JsonObject } from '../base/json/index.ts';
import { GatewayError, INCLUDABLE, TEXTS } from '../canonical/index.ts';
import type { ItemPage, PageRequest } from '../accounts/ports/index.ts';

/**
 * Parameters that ask for a page of a list.
 * @param most greatest `limit`
 * @param usual `limit` where the query names none
 */
export function pageQuery(most = 100, usual = 20) {
  return {
    limit: pageSize(most, usual),
    after: z.string().optional().describe('The id of the last entry of the page before.'),
    order: z.enum(['asc', 'desc'], 'must be asc or desc').default('desc').describe('By time.'),
  };
}

/** Parameter that says how long a page may be. */
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

/** Parameter that asks for further members of items; `readInclude` reads it. */
export const INCLUDE = {
  'include[]': z.string().optional().describe('Further members of the items.'),
};

/** A number of an event in a query. */
export const eventNumber = z.coerce
  .number('must be the number of an event')
  .int('must be the number of an event')
  .min(0, 'must be the number of an event')
  .optional();

/** Answer about something that was deleted. */
export const deletedShape = z.looseObject({ id: z.string(), deleted: z.literal(true) });

/**
 * Reads `include`, also as SDKs spell lists: `include[]=a&include[]=b`, `include[0]=a`.
 * @throws GatewayError `invalid_request` for a word that names nothing
 */
export function readInclude(query: URLSearchParams): ReadonlySet<string> {
  const include = new Set<string>();
  for (const [name, value] of query) if (/^include(\[\d*\])?$/.test(name)) include.add(value);
  for (const word of include)
    if (!INCLUDABLE.has(word)) throw wrong('include', TEXTS.mustBeOneOf([...INCLUDABLE].join(', ')));
  return include;
}

/** A page of a list that is at hand as a whole. @throws GatewayError `invalid_request` for an unknown `after` */
export function pageOf(items: readonly JsonObject[], { after, limit, order }: PageRequest): ItemPage {
  const ordered = order === 'asc' ? items : items.toReversed();
  const before = after === undefined ? -1 : ordered.findIndex((item) => item['id'] === after);
  if (after !== undefined && before === -1) throw wrong('after', TEXTS.notInList(after));
  const start = before + 1;
  return { items: ordered.slice(start, start + limit), hasMore: ordered.length > start + limit };
}

/** `{object: "list", …}` around the entries of one page. */
export function encodeList(data: readonly JsonObject[], hasMore: boolean): JsonObject {
  return { object: 'list', ...encodePage(data, hasMore) };
}

/** The entries of one page, with the ids of its ends. */
export function encodePage(data: readonly JsonObject[], hasMore: boolean): JsonObject {
  return {
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: hasMore,
  };
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
}
