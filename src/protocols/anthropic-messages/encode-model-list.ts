// Encodes the list of models for Anthropic clients (`GET /v1/models`, @anthropic-ai/sdk 1.12).
import type { JsonObject } from '../../base/json/index.ts';
import type { ListedModel } from '../protocol.ts';
import { invalidMember, TEXTS } from '../../canonical/index.ts';

/** Encodes the page that a query requests. @throws GatewayError `invalid_request` for an invalid query */
export function encodeModelPage(models: readonly ListedModel[], query: URLSearchParams): JsonObject {
  const { items, hasMore } = modelPage(models, query);
  return {
    data: items.map(encodeModel),
    has_more: hasMore,
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
  };
}

/** Encodes one model. */
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

// Pagination as in Anthropic's API: `limit`, and `after_id` or `before_id`.

/**
 * Maximum page size (API reference, "List Models", 2026-11). Also the default, where Anthropic has 20, because most
 * clients read only one page.
 */
const MAX_LIMIT = 1000;

export interface ModelPage<Item> {
  readonly items: readonly Item[];
  /** True if there are more after the page, or before it if the client pages backwards. */
  readonly hasMore: boolean;
}

/**
 * Returns the page of a list that a query requests, in the order of the list.
 * @throws GatewayError `invalid_request` for an invalid `limit`, an unknown id, or both ids at once
 */
function modelPage<Item extends { readonly id: string }>(
  items: readonly Item[],
  query: URLSearchParams,
): ModelPage<Item> {
  const limit = readLimit(query.get('limit'));
  const after = query.get('after_id');
  const before = query.get('before_id');
  if (after && before) throw invalidMember('before_id', 'cannot be used together with after_id');
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
    throw invalidMember('limit', TEXTS.mustBeInteger(1, MAX_LIMIT));
  return Number(given);
}

function placeOf(items: readonly { readonly id: string }[], id: string, param: string): number {
  const place = items.findIndex((item) => item.id === id);
  if (place === -1) throw invalidMember(param, TEXTS.notInList(id));
  return place;
}
