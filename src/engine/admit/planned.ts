// A request with its plan: which endpoints to try in which order, whether losses are refused, and the time limits.
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
import type { ApiCall, Arrival } from '../call.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { EngineSettings, Timeouts } from '../settings.ts';
import type { Principal } from '../../accounts/auth/index.ts';
import type { Limits } from '../../accounts/limits/index.ts';
import { lackingParameters } from '../adapt/index.ts';
import { refusalOfProvider } from '../provider-capacity.ts';
import type { UnixMs } from '../../base/units.ts';

export interface Planned {
  readonly arrival: Arrival;
  readonly request: CanonicalRequest;
  readonly plan: Plan;
  /** The decision as recorded, with the state at the time it was made. */
  readonly route: RouteTrace;
  /** True: a parameter that would be dropped or changed is a 400. */
  readonly strict: boolean;
  readonly timeouts: Timeouts;
  /** Time limits of endpoints with their own settings. Absent: no candidate has any. */
  readonly timeoutsAt?: ((endpoint: Endpoint) => Timeouts) | undefined;
  /** Unix milliseconds. Deadline for all attempts together. */
  readonly deadlineAt: UnixMs;
}

/**
 * Plans a request.
 * @param inputChars size of the prompt, in characters
 * @throws GatewayError when there is no usable endpoint, or a header is invalid
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

/** Plan for an answer that already exists. */
function answeredPlan(endpoint: Endpoint): Plan {
  const reason = "served in its vendor's batch";
  return {
    candidates: [{ endpoint, score: null, reason, unavailable: false }],
    excluded: [],
    failover: false,
    wishes: {},
    conversation: null,
    trace: () => [[[endpoint.slug, endpoint.modelId, endpoint.provider, reason]]],
  };
}

/** The longest limits of all candidates; the defaults when no candidate has its own. */
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

/** Combines each limit separately. */
function combined(choose: (one: number, other: number) => number, one: Timeouts, other: Timeouts): Timeouts {
  return {
    connectMs: choose(one.connectMs, other.connectMs),
    firstTokenMs: choose(one.firstTokenMs, other.firstTokenMs),
    responseMs: choose(one.responseMs, other.responseMs),
    idleMs: choose(one.idleMs, other.idleMs),
    totalMs: choose(one.totalMs, other.totalMs),
  };
}

// Time limits of one request: the operator's, shortened by the request's headers or body.

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
 * The shortest limit of header, body and operator. A request for more than the operator's limit is reported as
 * clamped. Throws GatewayError `invalid_request` for a header that is not a whole number of milliseconds.
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
  throw new GatewayError('invalid_request', `${name}: must be an integer of at least 1, in milliseconds`, {
    param: name,
  });
}

// Routing of a request, for one key and with the settings of its snapshot.

export interface RouteInput {
  readonly settings: EngineSettings;
  readonly principal: Principal;
  readonly state: RoutingState;
  readonly limits: Limits;
  /** Properties of the tasks other than text. */
  readonly tasks: readonly TaskFacts[];
  readonly nowMs: UnixMs;
  /** Characters of the request's body. */
  readonly inputChars: number;
  /** True: only explains the plan, without side effects. */
  readonly peek: boolean;
}

/** Plans the request. Throws GatewayError when no plan is possible. */
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
    full: limits.hasProviders ? (endpoint) => refusalOfProvider(limits, endpoint) : undefined,
    nowMs: input.nowMs,
    lacking: lackingParameters,
    inputChars: input.inputChars,
    report: request.report,
    peek: input.peek,
  });
}

// Strict mode, in which a loss is a 400. The request's header takes precedence over its key, and the key over the
// configuration.

const STRICT_HEADER = 'x-dragoman-strict';

/**
 * True: a parameter that would be dropped or changed refuses the request.
 * @param configured default from the operator's configuration
 * @throws GatewayError `invalid_request` for a header that is neither `true` nor `false`
 */
function isStrict({ header, principal }: ApiCall, configured: boolean): boolean {
  switch (header(STRICT_HEADER)) {
    case null:
      return principal.strict ?? configured;
    case 'true':
      return true;
    case 'false':
      return false;
    default:
      throw new GatewayError('invalid_request', `${STRICT_HEADER}: must be true or false`, {
        param: STRICT_HEADER,
      });
  }
}
