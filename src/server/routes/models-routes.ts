// Models that a key may use: list, and get by id, in the client's format.
import { z } from 'zod';
import type { JsonObject } from '../../base/json/index.ts';
import type { Principal } from '../../accounts/auth/index.ts';
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
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { TASKS } from '../../engine/index.ts';
import { listShape, servedProtocols, type ListedModel, type ServerCodec } from '../../protocols/index.ts';
import { protocolOfClient } from '../client-protocol.ts';
import type { ReplyDependencies } from '../reply.ts';
import { type ClientCall, clientRoute, type ClientGroup, type ClientRoute } from './client-route.ts';

export interface ModelsDependencies extends ReplyDependencies {
  readonly catalog: () => Catalog;
  /** Models listed only by self-hosted servers. */
  readonly localModels: { list(): Promise<readonly Model[]> };
}

const modelShape = z.looseObject({ id: z.string(), object: z.literal('model'), owned_by: z.string() });
/** Formats of protocols with their own model lists. */
const foreign = servedProtocols.flatMap(({ server }) => server.addresses.models?.shapes ?? []);

type ModelsCall = Pick<ClientCall, 'deps' | 'principal' | 'search' | 'server' | 'request'>;

async function list({ deps, principal, search, server }: ModelsCall): Promise<JsonObject> {
  const models = await listedModels(deps, principal);
  const own = server.addresses.models;
  if (own) return own.encodeList(models.map(listed), search);
  return search.has('client_version')
    ? { ...encodeModelList(models), models: encodeCodexModels(models) }
    : encodeModelList(models);
}

function show({ deps, principal, request, server }: ModelsCall): JsonObject {
  const path = decodePath(new URL(request.url).pathname);
  const own = server.addresses.models;
  const model = findVisible(deps.catalog(), principal, own?.idIn?.(path) ?? idBelow(path));
  return own?.encodeModel(listed(model)) ?? encodeModel(model);
}

/** Answered in the client's format. */
export const MODEL_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    id: 'listModels',
    method: 'get',
    path: '/models',
    tag: 'Models',
    summary: 'Lists the models that the key may use.',
    description:
      'Clients of Anthropic and Google, recognised by their headers, get the format of their vendor. Codex, recognised by `client_version`, also gets its own list.',
    query: z.object({ client_version: z.string().optional() }),
    answer: z.union([
      listShape(modelShape),
      ...foreign.map((shapes) => shapes.list),
    ]) as z.ZodType<JsonObject>,
    run: list,
  }),
  // Precede models by id, because ids may contain slashes.
  ...TASKS.flatMap(({ facts, models }) =>
    facts && models
      ? clientRoute({
          ...models,
          method: 'get',
          answer: listShape(modelShape),
          run: ({ deps, principal }) =>
            encodeModelList(allowed(deps.catalog().making(facts.makes), principal)),
        })
      : [],
  ),
  clientRoute({
    id: 'getModel',
    method: 'get',
    path: '/models/{id}',
    isDeep: true,
    tag: 'Models',
    summary: 'Returns a model by its id or an alias.',
    params: { id: { description: TEXTS.modelId, example: 'sim%2Fchat' } },
    answer: z.union([modelShape, ...foreign.map(({ model }) => model)]) as z.ZodType<JsonObject>,
    refusals: [404],
    run: show,
  }),
];

/** Lists for clients of one protocol; precede the shared ones. */
export const OWN_MODEL_GROUPS: readonly ClientGroup[] = servedProtocols.flatMap(({ server }) => {
  const { models, errors } = server.addresses;
  if (!models?.described) return [];
  const routes = [
    clientRoute({ ...models.described.list, method: 'get', path: '', run: list }),
    clientRoute({ ...models.described.model, method: 'get', path: '/{id}', isDeep: true, run: show }),
  ];
  return { bases: models.paths, audience: 'models', errors, speaker: () => server, routes };
});

/** Protocol of a client with its own list format. */
export function readerOfLists(request: Request): ServerCodec | undefined {
  const server = protocolOfClient(request)?.server;
  return server?.addresses.models && server;
}

/** Model id in a path. */
function idBelow(path: string): string {
  const collection = '/models/';
  return path.slice(path.indexOf(collection) + collection.length);
}

function listed({ reasoningStyle, created, ...model }: Model): ListedModel {
  const createdAt = new Date(created * 1000).toISOString();
  return { ...model, createdAt, reasons: reasoningStyle !== 'none' };
}

/** Models that a key may use, preceded by the entry for automatic choice. */
function visibleModels(catalog: Catalog, principal: Principal): readonly Model[] {
  const models = allowed(catalog.list(), principal);
  const auto = autoEntry(models);
  return auto && isAuto(auto.id, catalog) ? [auto, ...models] : models;
}

/** The same, followed by models listed only by self-hosted servers. */
async function listedModels(deps: ModelsDependencies, principal: Principal): Promise<readonly Model[]> {
  const local = await deps.localModels.list();
  return [...visibleModels(deps.catalog(), principal), ...allowed(local, principal)];
}

function allowed(models: readonly Model[], principal: Principal): readonly Model[] {
  return models.filter((model) => principal.mayUse(model.id));
}

/** The model of an id as a client wrote it. Throws GatewayError `not_found` for one that the key may not use. */
function findVisible(catalog: Catalog, principal: Principal, id: string): Model {
  const isChoice = isAuto(id, catalog);
  const model = isChoice ? autoEntry(allowed(catalog.list(), principal)) : catalog.find(id);
  // An automatic choice needs no permission, because it is limited to the models that the key may use.
  if (!model || !(isChoice || principal.mayUse(model.id))) {
    // The existence of models that the key may not use is not revealed.
    const text = model
      ? `The model ${JSON.stringify(id.slice(0, 200))} does not exist.`
      : unknownModel(id, catalog, principal.mayUse);
    throw new GatewayError('not_found', text, {
      param: 'model',
      code: 'model_not_found',
    });
  }
  return model;
}

/** Decodes a percent-encoded path. Unchanged if it is invalid, because then it matches nothing. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
