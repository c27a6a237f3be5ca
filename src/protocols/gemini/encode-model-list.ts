// Encodes `GET /v1beta/models` and `/v1beta/models/{model}` for Google's clients.
import type { JsonObject, MutableJsonObject } from '../../base/json/index.ts';
import { invalidMember, TEXTS } from '../../canonical/index.ts';
import type { ListedModel } from '../protocol.ts';

/** Maximum page size (API reference, "models.list", 2026-11). Also the default, because most clients read only one page. */
const MAX_PAGE = 1000;
const TOKEN_MARK = 'after:';

/**
 * Encodes the page that a query requests (`pageSize`, `pageToken`). A token names the last model of the previous page,
 * so nothing is skipped if the list changes in between.
 * @throws GatewayError `invalid_request` for an invalid size or an unknown token
 */
export function encodeModelList(models: readonly ListedModel[], query: URLSearchParams): JsonObject {
  const size = readSize(query.get('pageSize') ?? query.get('page_size'));
  const start = readStart(models, query.get('pageToken') ?? query.get('page_token'));
  const page = models.slice(start, start + size);
  const last = page.at(-1);
  const hasMore = models.length > start + page.length;
  return {
    models: page.map(encodeModel),
    ...(hasMore && last ? { nextPageToken: btoa(TOKEN_MARK + encodeURIComponent(last.id)) } : {}),
  };
}

/** Google reduces larger sizes to its maximum, and treats 0 as absent. */
function readSize(given: string | null): number {
  if (given === null || given === '' || given === '0') return MAX_PAGE;
  if (!/^\d{1,9}$/.test(given)) throw invalidMember('pageSize', TEXTS.mustBeCount);
  return Math.min(Number(given), MAX_PAGE);
}

function readStart(models: readonly ListedModel[], token: string | null): number {
  if (token === null || token === '') return 0;
  const place = models.findIndex(({ id }) => btoa(TOKEN_MARK + encodeURIComponent(id)) === token);
  if (place === -1) throw invalidMember('pageToken', 'is not a `nextPageToken` of this list');
  return place + 1;
}

/** Encodes one model (API reference, `Model`, 2026-11). The modalities are an extension. */
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
