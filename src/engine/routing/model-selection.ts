// Selects the models for a request, in order of trying: the named one, those of `models`, or those that the gateway
// chooses.
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError, type CanonicalRequest } from '../../canonical/index.ts';
import { isAuto, unknownModel, type Model, resolveModelId, type ResolvedModel } from '../../catalog/index.ts';
import { isNamed } from './filters.ts';
import { NOT_ALLOWED } from './model-fit.ts';
import { routeModels, type ModelOption } from './model-routing.ts';
import type { Exclusion, ModelChoice, PlanContext } from './plan-types.ts';

export { AUTO_MODELS } from '../../catalog/index.ts';

export interface ModelSelection {
  /** In order of trying; never empty and without duplicates. */
  readonly choices: readonly ModelChoice[];
  /**
   * Slug named in the id of the first choice. Null: none. Further choices already contain only the endpoints they name.
   */
  readonly pinned: string | null;
  readonly excluded: readonly Exclusion[];
  /** Basis of the choice, for the route table. Null: the request named one model and nothing else. */
  readonly basis: JsonObject | null;
}

/**
 * Selects the models: the named one or those chosen by `model_routing_config` or `dragoman/auto`, then `models`, whose
 * entries may be `dragoman/auto` too. Throws GatewayError: 404 for an unknown model, 403 for one that the key may not
 * use, 400 naming an invalid member, or one that leaves no model.
 */
export function selectModels(request: CanonicalRequest, context: PlanContext): ModelSelection {
  const { catalog } = context;
  const { modelRouting, models } = request.gateway;
  const named = isAuto(request.model, catalog) ? null : namedModel(request.model, context);
  if (named && !modelRouting && !models) {
    const choice = { model: named.model, reason: 'requested', score: null };
    return { choices: [choice], pinned: named.pinned, excluded: [], basis: null };
  }
  const routed = named && !modelRouting ? null : routeModels('model', named, request, context);
  const options: ModelOption[] = [];
  const excluded: Exclusion[] = [...(routed?.excluded ?? [])];
  const add = (option: ModelOption): void => {
    if (!options.some(({ model }) => model.id === option.model.id)) options.push(option);
  };
  if (named && !routed) add({ ...named, reason: 'requested', score: null, measures: null });
  routed?.options.forEach(add);
  models?.forEach((id, index) => {
    const path = `models[${index}]`;
    if (isAuto(id, catalog)) {
      routeModels(path, null, request, context).options.forEach((option) =>
        add({ ...option, reason: `${path}: ${option.reason}` }),
      );
      return;
    }
    const resolved = resolveModelId(id, catalog, path);
    if (!resolved) {
      const text = `${path}: ${unknownModel(id, catalog, context.mayUse)}`;
      throw new GatewayError('invalid_request', text, { param: path });
    }
    if (context.mayUse(resolved.model.id))
      return add({ ...resolved, reason: path, score: null, measures: null });
    excluded.push({ modelId: resolved.model.id, endpoint: null, reason: NOT_ALLOWED });
  });
  const [first, ...others] = options;
  if (!first) throw new TypeError('a request without models');
  return {
    choices: [toChoice(first, first.model), ...others.flatMap((option) => restricted(option, excluded))],
    pinned: first.pinned,
    excluded,
    basis: routed?.basis ?? null,
  };
}

/** Throws GatewayError when the model does not exist or the key may not use it. */
function namedModel(id: string, { catalog, mayUse }: PlanContext): ResolvedModel {
  const resolved = resolveModelId(id, catalog);
  if (!resolved) {
    throw new GatewayError('not_found', unknownModel(id, catalog, mayUse), {
      param: 'model',
      code: 'model_not_found',
    });
  }
  if (!mayUse(resolved.model.id)) {
    throw new GatewayError('permission', `This API key may not use the model ${resolved.model.id}.`, {
      param: 'model',
      code: 'model_not_allowed',
    });
  }
  return resolved;
}

function toChoice({ reason, score }: ModelOption, model: Model): ModelChoice {
  return { model, reason, score };
}

/** A further choice that names an endpoint is restricted to it. Empty if the model has no such endpoint. */
function restricted(option: ModelOption, excluded: Exclusion[]): readonly ModelChoice[] {
  const { model, pinned } = option;
  if (pinned === null) return [toChoice(option, model)];
  const endpoints = model.endpoints.filter((endpoint) => isNamed(endpoint, pinned));
  if (endpoints.length > 0) return [toChoice(option, { ...model, endpoints })];
  excluded.push({ modelId: model.id, endpoint: null, reason: `is not served by ${pinned}` });
  return [];
}
