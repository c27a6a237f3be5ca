// Lists in pages, as OpenAI has them: the query that asks for a page, and the envelope around one. Knows no list.
import { GatewayError, INCLUDABLE, type JsonObject } from '../canonical/index.ts';
import type { ItemPage, PageRequest } from '../storage/ports.ts';

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 20;

/**
 * Reads `after`, `limit` and `order` (`asc` or `desc`, the default).
 * @param most greatest `limit`
 * @param usual `limit` where the query names none
 * @throws GatewayError `invalid_request` naming the parameter
 */
export function readPage(query: URLSearchParams, most = MAX_LIMIT, usual = DEFAULT_LIMIT): PageRequest {
  const limit = query.get('limit') ?? String(usual);
  if (!/^\d{1,6}$/.test(limit) || Number(limit) < 1 || Number(limit) > most)
    throw wrong('limit', `must be an integer from 1 to ${most}`);
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw wrong('order', 'must be asc or desc');
  return { after: query.get('after') || undefined, limit: Number(limit), order };
}

/**
 * Reads `include`, also as SDKs spell lists: `include[]=a&include[]=b`, `include[0]=a`.
 * @throws GatewayError `invalid_request` for a word that names nothing
 */
export function readInclude(query: URLSearchParams): ReadonlySet<string> {
  const include = new Set<string>();
  for (const [name, value] of query) if (/^include(\[\d*\])?$/.test(name)) include.add(value);
  for (const word of include)
    if (!INCLUDABLE.has(word)) throw wrong('include', `must be one of ${[...INCLUDABLE].join(', ')}`);
  return include;
}

/** A page of a list that is at hand as a whole. @throws GatewayError `invalid_request` for an unknown `after` */
export function pageOf(items: readonly JsonObject[], { after, limit, order }: PageRequest): ItemPage {
  const ordered = order === 'asc' ? items : items.toReversed();
  const before = after === undefined ? -1 : ordered.findIndex((item) => item['id'] === after);
  if (after !== undefined && before === -1)
    throw wrong('after', `there is no '${after.slice(0, 100)}' in this list`);
  const start = before + 1;
  return { items: ordered.slice(start, start + limit), hasMore: ordered.length > start + limit };
}

/** `{object: "list", …}` around the entries of one page. */
export function encodeList(data: readonly JsonObject[], hasMore: boolean): JsonObject {
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: hasMore,
  };
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
}
