// A request and the decision about it: whom to ask in which order, how strictly, and within which time.
import {
  type CanonicalRequest,
  following,
  GatewayError,
  type Report,
  type RouteTrace,
  type TaskFacts,
  type TimeLimits,
} from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { type Plan, planRequest, type RoutingState } from '../routing/index.ts';
import type { Arrival } from '../call.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { EngineSettings, Timeouts } from '../settings.ts';
import { isStrict } from './admit.ts';
import type { Principal } from '../../accounts/auth/index.ts';
import type { Limits } from '../../accounts/limits/index.ts';
import { lackingParameters } from '../adapt/index.ts';
import { fullReason } from '../provider-room.ts';
import type { UnixMs } from '../../base/units.ts';

export interface Planned {
  readonly arrival: Arrival;
  readonly request: CanonicalRequest;
  readonly plan: Plan;
  /** The decision as the record keeps it, with what was known when it was made. */
  readonly route: RouteTrace;
  /** True: a parameter that would be dropped or changed is a 400. */
  readonly strict: boolean;
  readonly timeouts: Timeouts;
  /** The limits of an endpoint that has some of its own. Absent: none of those that may be asked has any. */
  readonly timeoutsAt?: ((endpoint: Endpoint) => Timeouts) | undefined;
  /** Unix milliseconds by which all attempts together must be over. */
  readonly deadlineAt: UnixMs;
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
  { routing, limits, tasks, clock }: Pick<GatewayDependencies, 'routing' | 'limits' | 'tasks' | 'clock'>,
): Planned {
  const { call, settings, arrivedAt } = arrival;
  const plan = call.job?.answered
    ? answeredPlan(call.job.answered.endpoint)
    : routeRequest(request, {
        settings,
        principal: call.principal,
        state: routing,
        limits,
        tasks,
        nowMs: clock.now(),
        inputChars,
        peek: false,
      });
  const { config } = settings;
  const { timeouts: configured } = config.routing;
  const usual = call.job
    ? { ...configured, totalMs: Math.max(configured.totalMs, call.job.totalMs) }
    : configured;
  const most = mostPatient(usual, plan);
  const timeouts = timeLimits(most, plan.wishes.limits, call.header, request.report);
  const timeoutsAt =
    most === usual
      ? undefined
      : ({ patience }: Endpoint): Timeouts => combined(Math.min, timeouts, withPatience(usual, patience));
  return {
    arrival,
    request,
    plan,
    route: request.follows ? following(plan.trace(), request.follows.id) : plan.trace(),
    strict: isStrict(call, config.strict),
    timeouts,
    timeoutsAt,
    deadlineAt: arrivedAt + timeouts.totalMs,
  };
}

/** The plan for an answer that is there already. */
function answeredPlan(endpoint: Endpoint): Plan {
  const reason = "answered in its vendor's batch";
  return {
    candidates: [{ endpoint, score: null, reason, unavailable: false }],
    excluded: [],
    failover: false,
    wishes: {},
    conversation: null,
    trace: () => [[[endpoint.slug, endpoint.modelId, endpoint.provider, reason]]],
  };
}

/** The longest limits of all that may be asked; the usual ones where none has any of its own. */
function mostPatient(usual: Timeouts, { candidates }: Plan): Timeouts {
  return candidates.reduce(
    (most, { endpoint: { patience } }) =>
      patience ? combined(Math.max, most, withPatience(usual, patience)) : most,
    usual,
  );
}

function withPatience(usual: Timeouts, patience: Endpoint['patience']): Timeouts {
  const {
    firstTokenMs = usual.firstTokenMs,
    responseMs = usual.responseMs,
    totalMs = usual.totalMs,
  } = patience ?? {};
  return { ...usual, firstTokenMs, responseMs, totalMs };
}

/** Limit by limit. */
function combined(choose: (one: number, other: number) => number, one: Timeouts, other: Timeouts): Timeouts {
  return {
    connectMs: choose(one.connectMs, other.connectMs),
    firstTokenMs: choose(one.firstTokenMs, other.firstTokenMs),
    responseMs: choose(one.responseMs, other.responseMs),
    idleMs: choose(one.idleMs, other.idleMs),
    totalMs: choose(one.totalMs, other.totalMs),
  };
}

// The limits of time of one request: the operator's, shortened by what the request asks for in its headers or body.

const NAMES = ['totalMs', 'firstTokenMs', 'idleMs'] as const;

const HEADERS = {
  totalMs: 'x-dragoman-timeout-ms',
  firstTokenMs: 'x-dragoman-first-token-timeout-ms',
  idleMs: 'x-dragoman-idle-timeout-ms',
} as const satisfies Record<keyof TimeLimits, string>;

const MEMBERS = {
  totalMs: 'provider.timeout_ms',
  firstTokenMs: 'provider.first_token_timeout_ms',
  idleMs: 'provider.idle_timeout_ms',
} as const satisfies Record<keyof TimeLimits, string>;

/**
 * The shortest of what header, body and operator say; a longer wish than the operator's is reported as clamped.
 * Throws GatewayError `invalid_request` for a header that is no whole number of milliseconds.
 */
function timeLimits(
  operators: Timeouts,
  asked: TimeLimits | undefined,
  header: (name: string) => string | null,
  report: Report,
): Timeouts {
  let limits: { -readonly [Name in keyof Timeouts]: Timeouts[Name] } | undefined;
  for (const name of NAMES) {
    const inHeader = readHeader(HEADERS[name], header);
    const wish = Math.min(inHeader ?? Infinity, asked?.[name] ?? Infinity);
    if (wish === Infinity) continue;
    if (wish > operators[name]) {
      const path = inHeader === undefined ? MEMBERS[name] : HEADERS[name];
      report.add(path, 'clamped', `the operator's limit is ${operators[name]} ms`);
      continue;
    }
    limits ??= { ...operators };
    limits[name] = wish;
  }
  return limits ?? operators;
}

function readHeader(name: string, header: (name: string) => string | null): number | undefined {
  const text = header(name);
  if (text === null) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value >= 1) return value;
  throw new GatewayError('invalid_request', `${name}: must be a whole number of milliseconds, at least 1`, {
    param: name,
  });
}

// Asks routing for the plan of a request, on behalf of a key and under the settings of its snapshot.

export interface RouteInput {
  readonly settings: EngineSettings;
  readonly principal: Principal;
  readonly state: RoutingState;
  readonly limits: Limits;
  /** Facts of the tasks besides text. */
  readonly tasks: readonly TaskFacts[];
  readonly nowMs: UnixMs;
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
