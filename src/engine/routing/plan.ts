// Plans one request: which models and endpoints are tried, in which order, and why.
import {
  type CanonicalRequest,
  GatewayError,
  type NameList,
  type RouteTrace,
  type RoutingWishes,
  type TracedCandidate,
  type TracedStrategy,
  trimmed,
  USUAL_STRATEGY,
  usualReason,
} from '../../canonical/index.ts';
import { baseRate } from '../../catalog/index.ts';
import { conversationOf } from './conversation.ts';
import { effectiveWishes } from './effective-wishes.ts';
import { unavailableReason, groupOf, type Removed } from './group.ts';
import { fallbackEntries } from './fallback.ts';
import { type ModelSelection, selectModels } from './model-selection.ts';
import type { Candidate, Exclusion, ModelChoice, Plan, PlanContext } from './plan-types.ts';
import type { JsonObject } from '../../base/json/index.ts';
import { contextOf } from './context-length.ts';
import { latestProducer } from './sealed-reasoning.ts';
import type { EndpointId } from './state.ts';

/**
 * Plans the candidates of a request. Throws GatewayError: 404 for an unknown model, 403 for one that the key may not
 * use, 400 naming the preference that leaves no endpoint.
 */
export function planRequest(request: CanonicalRequest, context: PlanContext): Plan {
  const wishes = effectiveWishes(request.gateway.routing, context.keyWishes, context.settings.defaults);
  reportUnknownNames(request.gateway.routing, context);
  const selection = selectModels(request, context);
  const conversation = conversationOf(request, context.projectId, context.inputChars);
  const ordered = isOrdered(request.gateway.routing);
  const holder =
    conversation === null || ordered || takesTurn(request, wishes)
      ? null
      : context.state.holder(conversation);
  // Other accounts refuse encrypted reasoning, so it precedes the cache.
  const producer = ordered ? null : latestProducer(request, context.state);
  const home = producer ?? holder;
  const homeReason = producer ? PRODUCED : CACHED;

  const candidates: Candidate[] = [];
  const removed: Removed[] = [];
  /** @returns false when no endpoint of the model is left */
  const add = (choice: ModelChoice, pinned: string | null, heeded = wishes): boolean => {
    const held = home?.modelId === choice.model.id ? { slug: home.slug, reason: homeReason } : null;
    const group = groupOf({ request, model: choice.model, wishes: heeded, pinned, home: held }, context);
    for (const candidate of group.candidates)
      if (candidates.length === 0 || !candidates.some(({ endpoint }) => endpoint === candidate.endpoint))
        candidates.push(chosen(candidate, choice));
    if (group.removed.length > 0) removed.push(...group.removed);
    return group.candidates.length > 0;
  };
  let { pinned } = selection;
  for (const choice of cachedModelFirst(selection, home?.modelId)) {
    add(choice, pinned);
    pinned = null;
  }
  const { fallback } = wishes;
  if (typeof fallback === 'object') addStandIns(fallback);
  if (candidates.length === 0) throw noCandidates(selection, removed);

  const failover = fallback !== false;
  const inOrder = failover ? unavailableLast(candidates) : candidates.slice(0, 1);
  const isWhole = failover && removed.length + selection.excluded.length === 0;
  const excluded: readonly Exclusion[] = isWhole
    ? NONE
    : [
        ...selection.excluded,
        ...removed
          .filter(({ endpoint }) => !inOrder.some((candidate) => candidate.endpoint === endpoint))
          .map(({ endpoint, reason }) => ({ modelId: endpoint.modelId, endpoint: endpoint.slug, reason })),
        ...(failover ? [] : candidates.slice(1).map(({ endpoint }) => notTried(endpoint))),
      ];
  return {
    candidates: inOrder,
    excluded,
    failover,
    wishes,
    conversation,
    trace: () =>
      traceRoute({ wishes, basis: selection.basis, candidates: inOrder, excluded, holder, context }),
  };

  function addStandIns(list: NameList): void {
    const first = selection.choices[0];
    if (!first) return;
    const named = fallbackEntries(list, first.model, request, wishes, context);
    // Named endpoints replace the remaining candidates; models are appended to them.
    if (named.some(({ type }) => type === 'endpoints')) {
      for (const { endpoint } of candidates.splice(1))
        removed.push({ endpoint, param: list.path, reason: `${list.path} lists the fallbacks` });
    }
    for (const entry of named) {
      if (entry.type === 'model') {
        const choice = { model: entry.model, reason: list.path, score: null };
        // A pinned endpoint need not be in the lists for the first choice.
        if (!add(choice, entry.pinned))
          add(choice, entry.pinned, { ...wishes, providers: undefined, only: undefined });
        continue;
      }
      for (const endpoint of entry.endpoints) {
        if (candidates.some((candidate) => candidate.endpoint === endpoint)) continue;
        const unavailable = unavailableReason(endpoint, context);
        const reason = unavailable ?? `${list.path}: ${entry.name}`;
        candidates.push({ endpoint, score: null, reason, unavailable: unavailable !== null });
      }
    }
  }
}

/** Adds the model's score and reason, if it was chosen among several. */
function chosen(candidate: Candidate, { score, reason }: ModelChoice): Candidate {
  if (reason === 'requested') return candidate;
  return { ...candidate, score: candidate.score ?? score, reason: `${reason}; ${candidate.reason}` };
}

const NONE: readonly Exclusion[] = [];
const CACHED = 'has the beginning of this conversation in its cache';
const PRODUCED = 'produced the encrypted reasoning of this conversation';

function notTried(endpoint: Candidate['endpoint']): Exclusion {
  return { modelId: endpoint.modelId, endpoint: endpoint.slug, reason: 'fallback is disabled' };
}

/** True when the request itself gives the order of endpoints. */
function isOrdered(wishes: RoutingWishes | undefined): boolean {
  if (!wishes || (wishes.type ?? 'priority') !== 'priority') return false;
  return wishes.prefer !== undefined || (wishes.providers !== undefined && wishes.factor === undefined);
}

/** True for the first turn of a round-robin conversation: conversations with the same beginning are distributed too. */
function takesTurn({ items }: CanonicalRequest, wishes: RoutingWishes): boolean {
  if (wishes.type !== 'round_robin') return false;
  return items.every((item) => item.type === 'message' && item.role !== 'assistant');
}

/** Moves the model of the conversation's last endpoint to the front, if the gateway chooses models. */
function cachedModelFirst(
  { choices, basis }: ModelSelection,
  home: string | undefined,
): readonly ModelChoice[] {
  if (home === undefined) return choices;
  const at = choices.findIndex(({ model }) => model.id === home);
  const choice = choices[at];
  if (at <= 0 || !choice || basis?.['auto'] !== true) return choices;
  return [choice, ...choices.filter((other) => other !== choice)];
}

/** Moves unavailable endpoints to the end of the whole plan, not only of their model. */
function unavailableLast(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.some(({ unavailable }) => unavailable)
    ? [
        ...candidates.filter(({ unavailable }) => !unavailable),
        ...candidates.filter(({ unavailable }) => unavailable),
      ]
    : candidates;
}

function noCandidates(selection: ModelSelection, removed: readonly Removed[]): GatewayError {
  const names = selection.choices.map(({ model }) => model.id).join(', ');
  const reasons = removed.map(({ endpoint, reason }) => `${endpoint.slug}: ${reason}`).join('; ');
  const [first] = removed;
  const text = first
    ? `${first.param}: all endpoints of ${names} are excluded (${reasons})`
    : `No endpoint serves ${names}. Add one under \`models\` in the configuration.`;
  return new GatewayError('invalid_request', text, { param: first?.param ?? 'model' });
}

/** Reports unknown slugs, which are most likely mistakes and have no effect. */
function reportUnknownNames(wishes: RoutingWishes | undefined, { catalog, report }: PlanContext): void {
  if (!wishes) return;
  for (const list of [wishes.providers, wishes.prefer, wishes.only, wishes.ignore]) {
    list?.names.forEach((name, index) => {
      const provider = name.includes('/') ? name.slice(0, name.indexOf('/')) : name;
      if (!catalog.hasProvider(provider))
        report.add(`${list.path}[${index}]`, 'dropped', 'no enabled provider has this name');
    });
  }
}

// Trace: the decision for the request's record and for explanations.

export interface TraceInput {
  readonly wishes: RoutingWishes;
  /** Basis of the choice of models. Null: one was named. */
  readonly basis: JsonObject | null;
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  readonly holder: EndpointId | null;
  readonly context: PlanContext;
}

/** The decision, with the current state of each endpoint. */
function traceRoute({ wishes, basis, candidates, excluded, holder, context }: TraceInput): RouteTrace {
  return trimmed([
    candidates.map((candidate, index) => traceCandidate(candidate, index + 1, holder, context)),
    strategyOf(wishes),
    basis,
    excluded.length === 0
      ? undefined
      : excluded.map(({ modelId, endpoint, reason }) => [modelId, endpoint, reason] as const),
  ] as unknown as RouteTrace);
}

function strategyOf({ type, factor, fallback, streamSafety, hedge }: RoutingWishes): TracedStrategy | null {
  const isUsual =
    (type ?? 'priority') === 'priority' &&
    factor === undefined &&
    (fallback ?? true) === true &&
    (streamSafety ?? 'error') === 'error' &&
    hedge !== true;
  if (isUsual) return null;
  const [usualType, , usualFallback, usualSafety] = USUAL_STRATEGY;
  return [
    type ?? usualType,
    factor ?? null,
    typeof fallback === 'object' ? [...fallback.names] : (fallback ?? usualFallback),
    streamSafety ?? usualSafety,
    hedge ?? false,
  ];
}

function traceCandidate(
  { endpoint, score, reason }: Candidate,
  position: number,
  holder: EndpointId | null,
  { state, nowMs }: PlanContext,
): TracedCandidate {
  const health = state.health(endpoint);
  const { slug, provider, modelId, price } = endpoint;
  const endpointState = health.availability(nowMs).state;
  const isHolder = holder !== null && holder.slug === slug && holder.modelId === modelId;
  return trimmed([
    slug,
    modelId,
    provider === slug ? null : provider,
    reason === usualReason(position) ? null : reason,
    price && [baseRate(price.input), baseRate(price.output)],
    contextOf(endpoint, health, nowMs),
    rounded(score, 10_000),
    rounded(health.firstTokenMs, 10),
    rounded(health.answerMs, 10),
    rounded(health.tokensPerSecond, 10),
    rounded(health.successRate(nowMs), 10_000),
    health.inFlight || null,
    endpointState === 'closed' ? null : endpointState,
    rounded(health.cacheHitRate, 10_000),
    isHolder ? 1 : null,
    health.learnedContext(nowMs) === null ? null : 1,
  ]);
}

/** @param parts per unit: 10 for one decimal */
function rounded(value: number | null, parts: number): number | null {
  return value === null ? null : Math.round(value * parts) / parts;
}
