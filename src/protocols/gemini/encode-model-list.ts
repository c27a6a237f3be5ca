// `GET /v1beta/models` and `/v1beta/models/{model}` as Google's clients know them. Only shapes; which models a key may
// see is decided outside.
import type { JsonObject, MutableJsonObject } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { ListedModel } from '../protocol.ts';

/** Largest page (API reference, "models.list", 2026-11). Also what a client gets that names no size: most read one page. */
const MAX_PAGE = 1000;
const TOKEN_MARK = 'after:';

/**
 * The page that a query asks for (`pageSize`, `pageToken`). A token names the last model before its page: a page that is
 * read after the list has changed leaves nothing out.
 * @throws GatewayError `invalid_request` for a wrong size, and for a token that no page gave
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

/** Google cuts larger sizes to its largest page, and takes 0 for none. */
function readSize(given: string | null): number {
  if (given === null || given === '' || given === '0') return MAX_PAGE;
  if (!/^\d{1,9}$/.test(given)) throw wrong('pageSize', TEXTS.mustBeCount);
  return Math.min(Number(given), MAX_PAGE);
}

function readStart(models: readonly ListedModel[], token: string | null): number {
  if (token === null || token === '') return 0;
  const place = models.findIndex(({ id }) => btoa(TOKEN_MARK + encodeURIComponent(id)) === token);
  if (place === -1) throw wrong('pageToken', 'is no `nextPageToken` of this list');
  return place + 1;
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${param}: ${message}`, { param });
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
