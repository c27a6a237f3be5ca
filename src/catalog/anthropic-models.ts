// The list of models as clients of Anthropic read it (`GET /v1/models`, @anthropic-ai/sdk 1.12). Only the shape; which
// models a key may use is decided outside.
import type { JsonObject } from '../canonical/index.ts';
import type { Model } from './endpoint.ts';

/** One page of the list. @param hasMore true when there are more models in the direction in which the client reads */
export function encodeAnthropicModels(models: readonly Model[], hasMore: boolean): JsonObject {
  return {
    data: models.map(encodeAnthropicModel),
    has_more: hasMore,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
}

/** One model. */
export function encodeAnthropicModel(model: Model): JsonObject {
  return {
    type: 'model',
    id: model.id,
    display_name: model.displayName,
    created_at: new Date(model.created * 1000).toISOString(),
    deprecated_at: null,
    retires_at: null,
    lifecycle: 'active',
    line: null,
    max_input_tokens: model.contextLength,
    max_tokens: model.maxOutputTokens,
    capabilities: null,
  };
}
