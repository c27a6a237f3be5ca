// `GET /v1beta/models` and `/v1beta/models/{model}` as Google's clients know them. Only shapes; which models a key may
// see is decided outside.
import type { JsonObject, MutableJsonObject } from '../../canonical/index.ts';
import type { ListedModel } from '../protocol.ts';

/** The list in one page: there is never another one. */
export function encodeModelList(models: readonly ListedModel[]): JsonObject {
  return { models: models.map(encodeModel) };
}

/** One model (API reference, `Model`, 2026-11; the modalities are beside Google's members). */
export function encodeModel(model: ListedModel): JsonObject {
  const encoded: MutableJsonObject = {
    name: `models/${model.id}`,
    baseModelId: model.id,
    version: '001',
    displayName: model.displayName,
    description: model.displayName,
  };
  if (model.contextLength !== null) encoded['inputTokenLimit'] = model.contextLength;
  if (model.maxOutputTokens !== null) encoded['outputTokenLimit'] = model.maxOutputTokens;
  encoded['supportedGenerationMethods'] = ['generateContent', 'countTokens'];
  encoded['thinking'] = model.reasons;
  encoded['inputModalities'] = [...model.inputModalities];
  encoded['outputModalities'] = [...model.outputModalities];
  return encoded;
}
