// The list of models as clients of Anthropic read it (`GET /v1/models`, @anthropic-ai/sdk 1.12). Only the shape; which
// models a key may use is decided outside.
import type { JsonObject } from '../../base/json/index.ts';
import type { ListedModel } from '../protocol.ts';
import { modelPage } from './model-page.ts';

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
