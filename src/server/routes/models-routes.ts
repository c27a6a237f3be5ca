// The models that a key may use, over HTTP: the list, and one by its id, each in the shape that the client reads.
import type { Hono } from 'hono';
import type { Principal } from '../../auth/index.ts';
import {
  autoEntry,
  encodeCodexModels,
  encodeModel,
  encodeModelList,
  isAuto,
  type Catalog,
  unknownModel,
  type Model,
} from '../../catalog/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { servedProtocols, type ListedModel, type ServedProtocol } from '../../protocols/index.ts';
import { headersOf, protocolOfClient } from '../client-protocol.ts';
import { reply, type ReplyDependencies } from '../reply.ts';

export interface ModelsDependencies extends ReplyDependencies {
  readonly catalog: () => Catalog;
}

/** Adds the lists that only the clients of one protocol read. To be added before those that several share. */
export function addOwnModelsRoutes(hono: Hono, deps: ModelsDependencies): void {
  for (const protocol of servedProtocols)
    for (const path of protocol.server.addresses.models?.paths ?? []) {
      hono.get(path, ({ req }) => listIn(protocol, deps, req.raw));
      hono.get(`${path}/*`, ({ req }) => showIn(protocol, deps, req.raw));
    }
}

/**
 * Adds the routes below a base path. Clients of a protocol that has lists of its own, known by their requests, get its
 * shape; Codex, known by its `client_version`, finds its own list beside OpenAI's.
 */
export function addModelsRoutes(hono: Hono, base: string, deps: ModelsDependencies): void {
  hono.get(`${base}/models`, ({ req }) => {
    const own = protocolWithLists(req.raw);
    if (own) return listIn(own, deps, req.raw);
    return reply(deps, req.raw, (principal) => {
      const models = visibleModels(deps.catalog(), principal);
      const list = encodeModelList(models);
      return req.query('client_version') === undefined
        ? list
        : { ...list, models: encodeCodexModels(models) };
    });
  });
  hono.get(`${base}/embeddings/models`, ({ req }) =>
    reply(deps, req.raw, (principal) => encodeModelList(allowed(deps.catalog().embeddings(), principal))),
  );
  hono.get(`${base}/models/*`, ({ req }) => {
    const own = protocolWithLists(req.raw);
    if (own) return showIn(own, deps, req.raw);
    const id = idBelow(decodePath(req.path));
    return reply(deps, req.raw, (principal) => encodeModel(findVisible(deps.catalog(), principal, id)));
  });
}

function protocolWithLists(request: Request): ServedProtocol | undefined {
  const protocol = protocolOfClient(request);
  return protocol?.server.addresses.models && protocol;
}

/** The list in a protocol's own shape; failures are told as the protocol does. */
function listIn({ server }: ServedProtocol, deps: ModelsDependencies, request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url);
  return reply(
    deps,
    request,
    (principal) => {
      const models = visibleModels(deps.catalog(), principal).map(listed);
      return server.addresses.models?.encodeList(models, searchParams) ?? {};
    },
    { server, header: headersOf(request, server) },
  );
}

/** One model in the same way. */
function showIn({ server }: ServedProtocol, deps: ModelsDependencies, request: Request): Promise<Response> {
  const path = decodePath(new URL(request.url).pathname);
  const { models } = server.addresses;
  const id = models?.idIn?.(path) ?? idBelow(path);
  return reply(
    deps,
    request,
    (principal) => models?.encodeModel(listed(findVisible(deps.catalog(), principal, id))) ?? {},
    { server, header: headersOf(request, server) },
  );
}

/** What follows the collection in the path of one model. */
function idBelow(path: string): string {
  const collection = '/models/';
  return path.slice(path.indexOf(collection) + collection.length);
}

function listed({ reasoningStyle, created, ...model }: Model): ListedModel {
  const createdAt = new Date(created * 1000).toISOString();
  return { ...model, createdAt, reasons: reasoningStyle !== 'none' };
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
