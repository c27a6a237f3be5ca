// `provider.fallback` in all its forms: the endpoints or models that may replace the first choice.
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
import { isNamed, permanentRemoval } from './filters.ts';
import type { PlanContext } from './plan-types.ts';

/** One resolved name of the list: endpoints of the requested model, or another model. */
export type FallbackEntry =
  | { readonly type: 'endpoints'; readonly name: string; readonly endpoints: readonly Endpoint[] }
  | { readonly type: 'model'; readonly model: Model; readonly pinned: string | null };

/**
 * Resolves each name as a provider or endpoint slug, then as a model. In a request, an unknown name or a provider
 * without the model is a 400; in a default for all models it is skipped.
 */
export function fallbackEntries(
  list: NameList,
  model: Model,
  request: CanonicalRequest,
  wishes: RoutingWishes,
  context: PlanContext,
): readonly FallbackEntry[] {
  const isRequests = request.gateway.routing?.fallback === list;
  const found: FallbackEntry[] = [];
  for (const name of list.names) {
    const serving = endpointsFor(model, request).filter((endpoint) => isNamed(endpoint, name));
    const endpoints = serving.filter(
      (endpoint) => permanentRemoval(endpoint, request, wishes, context.lacking) === null,
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
    ? `${name} does not serve ${model.id}, or the request excludes it.`
    : `${JSON.stringify(name.slice(0, 200))} is neither a provider nor a model.${hint}`;
  throw new GatewayError(
    'invalid_request',
    `${path}: ${what} Allowed: true, false, one of ${slugs}, or a model`,
    { param: path },
  );
}
