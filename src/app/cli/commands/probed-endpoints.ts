// Selects the endpoints that the doctor probes: the named one, those of configured models, and for every other enabled
// provider the cheapest of its listed models.
import type { Catalog, Endpoint, Model } from '../../../catalog/index.ts';
import { knownProviders, type Config } from '../../config/index.ts';
import { type Task, taskMaking } from '../../../engine/index.ts';
import { chooseModel } from '../../../operations/doctor/index.ts';
import type { ProviderPreset } from '../../../catalog/providers/index.ts';

/** The command line names something unknown: exit code 2. */
export class UsageError extends Error {}

export interface ProbedEndpoint {
  readonly model: Model;
  readonly endpoint: Endpoint;
  /** Task of the model. Absent: text. */
  readonly task?: Task | undefined;
}

/** A provider without a model to probe. */
export interface Unchosen {
  readonly provider: string;
  readonly reason: string;
}

export interface Choosing {
  readonly catalog: Catalog;
  readonly config: Config;
  readonly presets: readonly ProviderPreset[];
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** How to list a provider's models. Null: no requests are sent. */
  readonly asking: Parameters<typeof chooseModel>[2] | null;
}

/** Selects the endpoints. Throws UsageError for an unknown provider or model. */
export async function chooseEndpoints(
  choosing: Choosing,
): Promise<{ readonly targets: readonly ProbedEndpoint[]; readonly unchosen: readonly Unchosen[] }> {
  const { catalog, config, presets, provider, model } = choosing;
  if (provider !== undefined && !catalog.hasProvider(provider))
    throw new UsageError(`provider "${provider}" is not enabled`);
  if (model !== undefined) return { targets: named(choosing, model), unchosen: [] };

  const targets = unique(
    config.models
      .flatMap(({ id }) => probedEndpointsOf(catalog.find(id)))
      .filter(({ endpoint }) => provider === undefined || endpoint.provider === provider),
  );
  const unchosen: Unchosen[] = [];
  const seen = new Set(targets.map(({ endpoint }) => endpoint.provider));
  const others = provider === undefined ? knownProviders({ config, presets }) : [provider];
  for (const id of new Set(others)) {
    if (seen.has(id) || !catalog.hasProvider(id)) continue;
    const found = await cheapest(id, choosing);
    if ('reason' in found) unchosen.push(found);
    else targets.push(found);
  }
  return { targets, unchosen };
}

function named({ catalog, provider }: Choosing, id: string): readonly ProbedEndpoint[] {
  const model = catalog.find(id);
  if (!model) {
    const near = catalog.suggest(id);
    throw new UsageError(
      `model "${id}" not found${near.length ? `; did you mean ${near.join(' or ')}?` : ''}`,
    );
  }
  const targets = unique(probedEndpointsOf(model)).filter(
    ({ endpoint }) => provider === undefined || endpoint.provider === provider,
  );
  if (targets.length > 0) return targets;
  throw new UsageError(
    provider === undefined
      ? `${model.id} supports no task that has probes`
      : `${provider} does not serve ${model.id}`,
  );
}

async function cheapest(provider: string, { catalog, asking }: Choosing): Promise<ProbedEndpoint | Unchosen> {
  if (!asking) return { provider, reason: 'the cheapest listed model would be probed' };
  const endpoint = await chooseModel(provider, catalog, asking);
  const model = endpoint && catalog.find(endpoint.modelId);
  return model
    ? { model, endpoint }
    : { provider, reason: `it does not list its models; select one with --model ${provider}/NAME` };
}

function probedEndpointsOf(model: Model | null): ProbedEndpoint[] {
  if (!model) return [];
  const task = model.outputModalities.includes('text') ? undefined : taskMaking(model.outputModalities);
  if (!task && !model.outputModalities.includes('text')) return [];
  return model.endpoints.map((endpoint) => ({ model, endpoint, task }));
}

/** Removes duplicates, because models may share an endpoint. */
function unique(targets: readonly ProbedEndpoint[]): ProbedEndpoint[] {
  const byPlace = new Map<string, ProbedEndpoint>();
  for (const target of targets) {
    const { provider, protocol, model, baseUrl } = target.endpoint;
    const place = JSON.stringify([provider, protocol, model, baseUrl]);
    if (!byPlace.has(place)) byPlace.set(place, target);
  }
  return [...byPlace.values()];
}
