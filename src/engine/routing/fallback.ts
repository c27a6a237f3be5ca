// `provider.fallback` in all its forms: who may stand in when the first choice fails.
import {
  GatewayError,
  type CanonicalRequest,
  type NameList,
  type RoutingWishes,
} from '../../canonical/index.ts';
import {
  endpointsFor,
  similarModels,
  type Endpoint,
  type Model,
  resolveModelId,
} from '../../catalog/index.ts';
import { isNamed, standingRemoval } from './filters.ts';
import type { PlanContext } from './plan-types.ts';

/** One name of the list, resolved: endpoints of the model that was asked for, or another model. */
export type StandIn =
  | { readonly type: 'endpoints'; readonly name: string; readonly endpoints: readonly Endpoint[] }
  | { readonly type: 'model'; readonly model: Model; readonly pinned: string | null };

/**
 * Resolves names in this order: a provider or endpoint slug, then a model. A name in a request that means nothing,
 * or a provider that does not serve the model, is a 400; in a default that holds for every model it is passed over.
 */
export function standIns(
  list: NameList,
  model: Model,
  request: CanonicalRequest,
  wishes: RoutingWishes,
  context: PlanContext,
): readonly StandIn[] {
  const isRequests = request.gateway.routing?.fallback === list;
  const found: StandIn[] = [];
  for (const name of list.names) {
    const serving = endpointsFor(model, request).filter((endpoint) => isNamed(endpoint, name));
    const endpoints = serving.filter(
      (endpoint) => standingRemoval(endpoint, request, wishes, context.lacking) === null,
    );
    if (endpoints.length > 0) {
      found.push({ type: 'endpoints', name, endpoints });
      continue;
    }
    if (serving.length === 0 && !context.catalog.hasProvider(name)) {
      const other = resolveModelId(name, context.catalog, list.path);
      if (other && context.mayUse(other.model.id)) {
        found.push({ type: 'model', ...other });
        continue;
      }
    }
    if (isRequests) refuse(list.path, name, model, context);
  }
  return found;
}

function refuse(path: string, name: string, model: Model, { catalog, mayUse }: PlanContext): never {
  const slugs = model.endpoints.map(({ slug }) => slug).join(', ');
  const known = catalog.hasProvider(name);
  const similar = similarModels(name, catalog, mayUse);
  const hint = similar.length > 0 ? ` Did you mean ${similar.join(', ')}?` : '';
  const what = known
    ? `${name} does not serve ${model.id}, or was ruled out by the request.`
    : `${JSON.stringify(name.slice(0, 200))} is neither a provider nor a model.${hint}`;
  throw new GatewayError(
    'invalid_request',
    `${path}: ${what} Allowed: true, false, one of ${slugs}, or a model`,
    { param: path },
  );
}
