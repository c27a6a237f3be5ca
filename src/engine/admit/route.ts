// Asks routing for the plan of a request, on behalf of a key and under the settings of its snapshot.
import type { Principal } from '../../accounts/auth/index.ts';
import type { CanonicalRequest, TaskFacts } from '../../canonical/index.ts';
import type { Limits } from '../../accounts/limits/index.ts';
import { planRequest, type Plan, type RoutingState } from '../routing/index.ts';
import { lackingParameters } from '../adapt/index.ts';
import { fullReason } from '../provider-room.ts';
import type { EngineSettings } from '../settings.ts';

export interface RouteInput {
  readonly settings: EngineSettings;
  readonly principal: Principal;
  readonly state: RoutingState;
  readonly limits: Limits;
  /** Facts of the tasks besides text. */
  readonly tasks: readonly TaskFacts[];
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** Characters of the request's body. */
  readonly inputChars: number;
  /** True: only to explain. */
  readonly peek: boolean;
}

/** The plan; throws GatewayError where there can be none. */
export function routeRequest(request: CanonicalRequest, input: RouteInput): Plan {
  const { settings, principal, limits } = input;
  return planRequest(request, {
    catalog: settings.catalog,
    settings: settings.config.routing,
    tasks: input.tasks,
    keyWishes: principal.routing,
    projectId: principal.projectId,
    mayUse: principal.mayUse,
    state: input.state,
    full: limits.hasProviders ? (endpoint) => fullReason(limits, endpoint) : undefined,
    nowMs: input.nowMs,
    lacking: lackingParameters,
    inputChars: input.inputChars,
    report: request.report,
    peek: input.peek,
  });
}
