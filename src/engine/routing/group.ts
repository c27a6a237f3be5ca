// The endpoints of one model, filtered and ordered by the policy.
import type { CanonicalRequest, RoutingWishes } from '../../canonical/index.ts';
import { endpointsFor, type Endpoint, type Model } from '../../catalog/index.ts';
import { factorOf, type Measured } from './factors/index.ts';
import { isAmong, isNamed, removalOf, type Removal } from './filters.ts';
import type { Candidate, PlanContext } from './plan-types.ts';
import { policyOf } from './policies/index.ts';
import type { Ranked } from './rank.ts';
import { CHARACTERS_PER_TOKEN } from './request-facts.ts';

/** An excluded endpoint, with the member that excluded it. */
export interface Removed extends Removal {
  readonly endpoint: Endpoint;
}

export interface Group {
  readonly candidates: readonly Candidate[];
  readonly removed: readonly Removed[];
}

export interface GroupInput {
  readonly request: CanonicalRequest;
  readonly model: Model;
  readonly wishes: RoutingWishes;
  /** Slug named in the model id. Null: none. */
  readonly pinned: string | null;
  /** Endpoint to which the conversation returns, and why. Null: none. */
  readonly home: { readonly slug: string; readonly reason: string } | null;
}

/** Filters and orders the endpoints of a model. */
export function groupOf(input: GroupInput, context: PlanContext): Group {
  const only = onlyCandidate(input, context);
  if (only) return only;
  const { request, model, wishes, pinned } = input;
  const removed: Removed[] = [];
  const left: Endpoint[] = [];
  for (const endpoint of endpointsFor(model, request)) {
    const removal =
      pinned !== null && !isNamed(endpoint, pinned)
        ? { param: 'model', reason: `the model id names ${pinned}` }
        : removalOf(endpoint, request, wishes, context.lacking);
    if (removal) removed.push({ endpoint, ...removal });
    else left.push(endpoint);
  }
  return { candidates: left.length === 0 ? [] : ordered(left, input, context), removed };
}

const groups = new WeakMap<Endpoint, Group>();

/** Fast path: most models have one endpoint and most requests no preferences. */
function onlyCandidate(
  { request, model, wishes, pinned, home }: GroupInput,
  context: PlanContext,
): Group | null {
  if (model.endpoints.length !== 1 || pinned !== null || home !== null) return null;
  const endpoint = endpointsFor(model, request)[0];
  if (!endpoint) return null;
  const { providers, only, ignore, maxPrice, requireParameters, factor, type } = wishes;
  if (
    providers ||
    only ||
    ignore ||
    maxPrice ||
    requireParameters ||
    factor ||
    (type ?? 'priority') !== 'priority'
  )
    return null;
  if (unavailableReason(endpoint, context) !== null) return null;
  let group = groups.get(endpoint);
  if (!group) {
    group = {
      candidates: [{ endpoint, score: null, reason: 'priority 1', unavailable: false }],
      removed: [],
    };
    groups.set(endpoint, group);
  }
  return group;
}

function ordered(
  endpoints: readonly Endpoint[],
  { request, model, wishes, home: returnsTo }: GroupInput,
  context: PlanContext,
): readonly Candidate[] {
  const { state, nowMs, peek } = context;
  const sound: Measured[] = [];
  const unavailable: Candidate[] = [];
  const isFixed = fixesFirst(wishes);
  for (const endpoint of listed(endpoints, wishes)) {
    const reason = unavailableReason(endpoint, context);
    if (reason === null || isFixed)
      sound.push({ endpoint, model, health: state.health(endpoint), nowMs, stream: request.stream });
    else unavailable.push({ endpoint, score: null, reason, unavailable: true });
  }
  const home =
    returnsTo === null
      ? undefined
      : sound.find(
          ({ endpoint }) => endpoint.slug === returnsTo.slug && unavailableReason(endpoint, context) === null,
        );
  const others = home ? sound.filter((subject) => subject !== home) : sound;
  const { prefer, factor } = wishes;
  const ranked = policyOf(wishes.type ?? 'priority').order(others, {
    factor: factor === undefined ? null : factorOf(factor),
    preferred: prefer ? others.filter(({ endpoint }) => isAmong(endpoint, prefer)).length : 0,
    // A conversation that returns to its endpoint does not use a turn.
    turn: () => state.turn(scopeOf(model, endpoints), peek || home !== undefined),
  });
  if (!peek) for (const { subject } of home ? ranked : ranked.slice(1)) state.skipped(subject.endpoint);
  const first: readonly Ranked[] =
    home && returnsTo ? [{ subject: home, score: null, reason: returnsTo.reason }] : [];
  return [
    ...[...first, ...ranked].map(({ subject: { endpoint }, score, reason }): Candidate => {
      const why = isFixed ? unavailableReason(endpoint, context) : null;
      return { endpoint, score, reason: why ?? reason, unavailable: why !== null };
    }),
    ...unavailable,
  ];
}

/** Why an endpoint is ordered last. Null: it is healthy, or may be tried. */
export function unavailableReason(endpoint: Endpoint, context: PlanContext): string | null {
  const { state, nowMs, inputChars } = context;
  const health = state.health(endpoint);
  const learnedContext = health.learnedContext(nowMs);
  if (learnedContext !== null && inputChars / CHARACTERS_PER_TOKEN > learnedContext)
    return `unavailable: it has rejected more than ${learnedContext} tokens`;
  const availability = health.availability(nowMs);
  if (availability.state !== 'closed' && !state.admits(endpoint))
    return `unavailable: ${availability.reason ?? availability.state}`;
  const full = context.full?.(endpoint) ?? null;
  return full && `unavailable: ${full}`;
}

/** True when the first endpoint is fixed even if unhealthy, because fallback is off or limited to named ones. */
function fixesFirst({ type, factor, fallback }: RoutingWishes): boolean {
  const isLimited = fallback === false || typeof fallback === 'object';
  return isLimited && factor === undefined && (type ?? 'priority') === 'priority';
}

/** In the order of the lists, then in the operator's order. */
function listed(endpoints: readonly Endpoint[], { providers, prefer }: RoutingWishes): readonly Endpoint[] {
  if (!providers && !prefer) return endpoints;
  const names = [...(prefer?.names ?? []), ...(providers?.names ?? [])];
  const found = names.flatMap((name) => endpoints.filter((endpoint) => isNamed(endpoint, name)));
  return [...new Set([...found, ...endpoints])];
}

const wholeScopes = new WeakMap<Model, string>();

/** A round-robin scope is a model with a set of endpoints, whether healthy or not. */
function scopeOf(model: Model, endpoints: readonly Endpoint[]): string {
  const isWhole = endpoints.length === model.endpoints.length;
  const known = isWhole ? wholeScopes.get(model) : undefined;
  if (known !== undefined) return known;
  const scope = `${model.id} ${endpoints
    .map(({ slug }) => slug)
    .toSorted()
    .join(' ')}`;
  if (isWhole) wholeScopes.set(model, scope);
  return scope;
}
