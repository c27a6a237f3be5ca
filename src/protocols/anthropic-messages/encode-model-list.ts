// The list of models as clients of Anthropic read it (`GET /v1/models`, @anthropic-ai/sdk 1.12). Only the shape; which
// models a key may use is decided outside.
import type { JsonObject } from '../../base/json/index.ts';
import type { ListedModel } from '../protocol.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';

/** The page of the list that a query asks for. Throws GatewayError `invalid_request` for a query without a page. */
export function encodeModelPage(models: readonly ListedModel[], query: URLSearchParams): JsonObject {
  const { items, hasMore } = modelPage(models, query);
  return {
    data: items.map(encodeModel),
    has_more: hasMore,
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
  };
}

/** One model. */
export function encodeModel(model: ListedModel): JsonObject {
  return {
    type: 'model',
    id: model.id,
    display_name: model.displayName,
    created_at: model.createdAt,
    deprecated_at: null,
    retires_at: null,
    lifecycle: 'active',
    line: null,
    max_input_tokens: model.contextLength,
    max_tokens: model.maxOutputTokens,
    capabilities: null,
  };
}

// Lists in pages, as Anthropic has them: `limit`, and `after_id` or `before_id`. Knows no list.

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
function modelPage<Item extends { readonly id: string }>(
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
