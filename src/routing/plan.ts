// Decides which endpoints may answer, and in which order. Deciding is all it does: the engine tries them.
import type { Endpoint, Model } from '../catalog/index.ts';
import type { CanonicalRequest, Report } from '../canonical/index.ts';
import { asArray, asObject, asString, GatewayError } from '../canonical/index.ts';

export interface Candidate {
  readonly endpoint: Endpoint;
  /** Why it stands where it stands. */
  readonly reason: string;
}

export interface Plan {
  /** In the order of trying; never empty. */
  readonly candidates: readonly Candidate[];
  /** False: the first failure is final. */
  readonly failover: boolean;
}

/**
 * The endpoints of a model in the operator's order, restricted and reordered by `provider.routing.providers`;
 * `provider.fallback: "false"` keeps only the first.
 * Throws GatewayError when no endpoint is left.
 */
export function planCandidates(request: CanonicalRequest, model: Model, report: Report): Plan {
  const { provider: options, modelRouting, models } = request.gateway;
  if (!options && !modelRouting && !models) return usualPlan(model);
  const wanted = asArray(asObject(options?.['routing'])['providers'])
    .map(asString)
    .filter((slug) => slug !== undefined);
  const all = usualPlan(model).candidates;
  const candidates =
    wanted.length === 0
      ? all
      : wanted
          .flatMap((slug) =>
            all.filter(({ endpoint }) => endpoint.slug === slug || endpoint.provider === slug),
          )
          .map(({ endpoint }) => ({ endpoint, reason: 'requested' }));
  if (candidates.length === 0) {
    const known = [...new Set(model.endpoints.map((endpoint) => endpoint.slug))].join(', ');
    throw new GatewayError(
      'invalid_request',
      `provider.routing.providers: none of these serves ${model.id}; those that do: ${known}`,
      {
        param: 'provider.routing.providers',
      },
    );
  }
  reportUnusedOptions(request, report);
  const fallback = options?.['fallback'];
  const failover = fallback !== false && fallback !== 'false';
  return { candidates: failover ? unique(candidates) : candidates.slice(0, 1), failover };
}

const usualPlans = new WeakMap<Model, Plan>();

/** The plan of requests that wish for nothing: the same for all of them. */
function usualPlan(model: Model): Plan {
  let plan = usualPlans.get(model);
  if (!plan) {
    plan = {
      candidates: model.endpoints.map((endpoint) => ({ endpoint, reason: 'operator’s order' })),
      failover: true,
    };
    usualPlans.set(model, plan);
  }
  return plan;
}

function unique(candidates: readonly Candidate[]): readonly Candidate[] {
  const seen = new Set<Endpoint>();
  return candidates.filter(({ endpoint }) => !seen.has(endpoint) && seen.add(endpoint));
}

const BOOLEAN_WORDS: ReadonlySet<unknown> = new Set([undefined, null, true, false, 'true', 'false']);

/** Wishes that this version does not act on are reported, never ignored in silence. */
function reportUnusedOptions(request: CanonicalRequest, report: Report): void {
  for (const name of Object.keys(request.gateway.provider ?? {})) {
    if (name !== 'routing' && name !== 'fallback')
      report.add(`provider.${name}`, 'dropped', 'this version does not act on it');
  }
  if (!BOOLEAN_WORDS.has(request.gateway.provider?.['fallback'])) {
    report.add('provider.fallback', 'approximated', 'every endpoint of the model may stand in');
  }
  const routing = asObject(request.gateway.provider?.['routing']);
  const type = asString(routing['type']);
  if (type !== undefined && type !== 'priority' && type !== 'order') {
    report.add('provider.routing.type', 'approximated', 'endpoints are tried in priority order');
  }
  if (routing['primary_factor'] !== undefined)
    report.add('provider.routing.primary_factor', 'dropped', 'endpoints are tried in priority order');
  if (request.gateway.modelRouting)
    report.add('model_routing_config', 'dropped', 'the requested model is used');
  if (request.gateway.models) report.add('models', 'dropped', 'the requested model is used');
}
