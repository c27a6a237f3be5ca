// Lists in pages, as Anthropic has them: `limit`, and `after_id` or `before_id`. Knows no list.
import { GatewayError, TEXTS } from '../../canonical/index.ts';

/**
 * Largest page (API reference, "List Models", 2026-11). Also what a client gets that names no limit, where Anthropic
 * gives 20: most clients read one page and take it for all.
 */
const MAX_LIMIT = 1000;

export interface ModelPage<Item> {
  readonly items: readonly Item[];
  /** More of them after the page, or before it where the client reads backwards. */
  readonly hasMore: boolean;
}

/**
 * The page of a list that a query asks for, in the order of the list.
 * @throws GatewayError `invalid_request` for a wrong `limit`, an id that is not in the list, or both ids at once
 */
export function modelPage<Item extends { readonly id: string }>(
  items: readonly Item[],
  query: URLSearchParams,
): ModelPage<Item> {
  const limit = readLimit(query.get('limit'));
  const after = query.get('after_id');
  const before = query.get('before_id');
  if (after && before) throw wrong('before_id', 'cannot stand beside after_id');
  if (before) {
    const end = placeOf(items, before, 'before_id');
    const start = Math.max(0, end - limit);
    return { items: items.slice(start, end), hasMore: start > 0 };
  }
  const start = after ? placeOf(items, after, 'after_id') + 1 : 0;
  return { items: items.slice(start, start + limit), hasMore: items.length > start + limit };
}

function readLimit(given: string | null): number {
  if (given === null || given === '') return MAX_LIMIT;
  if (!/^\d{1,6}$/.test(given) || Number(given) < 1 || Number(given) > MAX_LIMIT)
    throw wrong('limit', TEXTS.mustBeInteger(1, MAX_LIMIT));
  return Number(given);
}

function placeOf(items: readonly { readonly id: string }[], id: string, param: string): number {
  const place = items.findIndex((item) => item.id === id);
  if (place === -1) throw wrong(param, TEXTS.notInList(id));
  return place;
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
}
