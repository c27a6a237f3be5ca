// The models that a key may use, over HTTP: the list, and one by its id, each in the shape that the client reads.
import type { Hono } from 'hono';
import type { Principal } from '../auth/index.ts';
import {
  autoEntry,
  encodeAnthropicModel,
  encodeAnthropicModels,
  encodeCodexModels,
  encodeModel,
  encodeModelList,
  isAuto,
  type Catalog,
  unknownModel,
  type Model,
} from '../catalog/index.ts';
import { GatewayError, type JsonObject, type Parameter } from '../canonical/index.ts';
import { findProtocol, type Protocol } from '../protocols/index.ts';
import { anthropicPage } from './anthropic-page.ts';
import { isAnthropics } from './client-manner.ts';
import { reply, withServer, type ReplyDependencies } from './reply.ts';

const anthropic = withServer('anthropic-messages');

export interface ModelsDependencies extends ReplyDependencies {
  readonly catalog: () => Catalog;
}

/**
 * Adds the routes below a base path. Clients of Anthropic's protocol, known by their `anthropic-version` or by their own
 * base, get Anthropic's shape; Codex, known by its `client_version`, finds its own list beside OpenAI's.
 */
export function addModelsRoutes(hono: Hono, base: string, deps: ModelsDependencies): void {
  hono.get(`${base}/models`, (context) =>
    replyInManner(deps, context.req.raw, (principal) => {
      const models = visibleModels(deps.catalog(), principal);
      if (isAnthropics(context.req.raw)) {
        const { items, hasMore } = anthropicPage(models, new URL(context.req.url).searchParams);
        return encodeAnthropicModels(items, hasMore);
      }
      const list = encodeModelList(models, lacks);
      return context.req.query('client_version') === undefined
        ? list
        : { ...list, models: encodeCodexModels(models) };
    }),
  );
  hono.get(`${base}/embeddings/models`, (context) =>
    reply(deps, context.req.raw, (principal) =>
      encodeModelList(allowed(deps.catalog().embeddings(), principal), lacks),
    ),
  );
  hono.get(`${base}/models/*`, (context) =>
    replyInManner(deps, context.req.raw, (principal): JsonObject => {
      const id = decodePath(context.req.path.slice(base.length + '/models/'.length));
      const model = findVisible(deps.catalog(), principal, id);
      return isAnthropics(context.req.raw) ? encodeAnthropicModel(model) : encodeModel(model, lacks);
    }),
  );
}

/** Tells failures as the client's protocol does, where its request names one. */
function replyInManner(
  deps: ReplyDependencies,
  request: Request,
  answer: (principal: Principal) => JsonObject,
): Promise<Response> {
  const header = (name: string): string | null => request.headers.get(name);
  const manner = isAnthropics(request) ? { server: anthropic.server, header } : undefined;
  return reply(deps, request, answer, manner);
}

/** The models that a key may use, after the entry by which the choice among them is left to the gateway. */
export function visibleModels(catalog: Catalog, principal: Principal): readonly Model[] {
  const models = allowed(catalog.list(), principal);
  const auto = autoEntry(models);
  return auto && isAuto(auto.id, catalog) ? [auto, ...models] : models;
}

function allowed(models: readonly Model[], principal: Principal): readonly Model[] {
  return models.filter((model) => principal.mayUse(model.id));
}

/** The model of an id as a client wrote it. Throws GatewayError `not_found` for one that the key may not use. */
export function findVisible(catalog: Catalog, principal: Principal, id: string): Model {
  const isChoice = isAuto(id, catalog);
  const model = isChoice ? autoEntry(allowed(catalog.list(), principal)) : catalog.find(id);
  // A choice needs no permission of its own: it is among the models that the key may use.
  if (!model || !(isChoice || principal.mayUse(model.id))) {
    // Whether a model exists that the key may not use is not told.
    const text = model
      ? `The model ${JSON.stringify(id.slice(0, 200))} does not exist.`
      : unknownModel(id, catalog);
    throw new GatewayError('not_found', text, {
      param: 'model',
      code: 'model_not_found',
    });
  }
  return model;
}

/** The text of a percent-encoded path; as it stands when it is not properly encoded, since then it names nothing. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function lacks(name: Protocol['name']): ReadonlySet<Parameter> {
  return findProtocol(name)?.upstream.lacks ?? new Set();
}
