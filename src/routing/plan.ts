// Decides which endpoints may answer, and in which order. Deciding is all it does: the engine tries them.
import type { Endpoint, Model } from '../catalog/index.ts';
import type { CanonicalRequest } from '../canonical/index.ts';
import { GatewayError } from '../canonical/index.ts';

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
export function planCandidates(request: CanonicalRequest, model: Model): Plan {
  const { routing: options } = request.gateway;
  if (!options) return usualPlan(model);
  const wanted = options.providers?.names ?? [];
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
  const failover = options.fallback !== false;
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
