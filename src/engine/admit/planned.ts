// A request and the decision about it: whom to ask in which order, how strictly, and within which time.
import { following, type CanonicalRequest, type RouteTrace } from '../../canonical/index.ts';
import type { Plan } from '../../routing/index.ts';
import type { Arrival } from '../arrival.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Timeouts } from '../settings.ts';
import { routeRequest } from './route.ts';
import { isStrict } from './strictness.ts';
import { timeLimits } from './time-limits.ts';

export interface Planned {
  readonly arrival: Arrival;
  readonly request: CanonicalRequest;
  readonly plan: Plan;
  /** The decision as the record keeps it, with what was known when it was made. */
  readonly route: RouteTrace;
  /** True: a parameter that would be dropped or changed is a 400. */
  readonly strict: boolean;
  readonly timeouts: Timeouts;
  /** Unix milliseconds by which all attempts together must be over. */
  readonly deadlineAt: number;
}

/**
 * Decides about a request.
 * @param inputChars how large its prompt is, in characters
 * @throws GatewayError where nobody may be asked, or a header is none
 */
export function planFor(
  arrival: Arrival,
  request: CanonicalRequest,
  inputChars: number,
  { routing, limits, clock }: Pick<GatewayDependencies, 'routing' | 'limits' | 'clock'>,
): Planned {
  const { call, settings, createdAt } = arrival;
  const plan = routeRequest(request, {
    settings,
    principal: call.principal,
    state: routing,
    limits,
    nowMs: clock.now(),
    inputChars,
    peek: false,
  });
  const { config } = settings;
  const timeouts = timeLimits(config.routing.timeouts, plan.wishes.limits, call.header, request.report);
  return {
    arrival,
    request,
    plan,
    route: request.follows ? following(plan.trace(), request.follows.id) : plan.trace(),
    strict: isStrict(call, config.strict),
    timeouts,
    deadlineAt: createdAt + timeouts.totalMs,
  };
}
