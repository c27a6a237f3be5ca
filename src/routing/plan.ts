// Makes the plan of one request: which models, which endpoints of each, in which order, and why.
import {
  GatewayError,
  type CanonicalRequest,
  type NameList,
  type RoutingWishes,
} from '../canonical/index.ts';
import { conversationOf } from './conversation.ts';
import { effectiveWishes } from './effective-wishes.ts';
import { standIns } from './fallback.ts';
import { asideReason, groupOf, type Removed } from './group.ts';
import { selectModels, type ModelSelection } from './model-selection.ts';
import type { Candidate, Exclusion, ModelChoice, Plan, PlanContext } from './plan-types.ts';
import { traceRoute } from './trace-route.ts';

/**
 * The candidates for a request in the order of trying.
 * Throws GatewayError: 404 for an unknown model, 403 for one the key may not use, 400 naming the wish that leaves
 * nobody.
 */
export function planRequest(request: CanonicalRequest, context: PlanContext): Plan {
  const wishes = effectiveWishes(request.gateway.routing, context.keyWishes, context.settings.defaults);
  reportStrangers(request.gateway.routing, context);
  const selection = selectModels(request, context);
  const conversation = conversationOf(request, context.projectId, context.inputChars);
  const holder =
    conversation === null || isOrdered(request.gateway.routing) || takesTurn(request, wishes)
      ? null
      : context.state.holder(conversation);

  const candidates: Candidate[] = [];
  const removed: Removed[] = [];
  /** @returns false when no endpoint of the model is left */
  const add = (choice: ModelChoice, pinned: string | null, heeded = wishes): boolean => {
    const held = holder?.modelId === choice.model.id ? holder.slug : null;
    const group = groupOf({ request, model: choice.model, wishes: heeded, pinned, holder: held }, context);
    for (const candidate of group.candidates)
      if (candidates.length === 0 || !candidates.some(({ endpoint }) => endpoint === candidate.endpoint))
        candidates.push(chosen(candidate, choice));
    if (group.removed.length > 0) removed.push(...group.removed);
    return group.candidates.length > 0;
  };
  let { pinned } = selection;
  for (const choice of homeFirst(selection, holder?.modelId)) {
    add(choice, pinned);
    pinned = null;
  }
  const { fallback } = wishes;
  if (typeof fallback === 'object') addStandIns(fallback);
  if (candidates.length === 0) throw nobodyLeft(selection, removed);

  const failover = fallback !== false;
  const inOrder = failover ? asideLast(candidates) : candidates.slice(0, 1);
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
    const named = standIns(list, first.model, request, wishes, context);
    // Named endpoints replace those that would have followed; models alone follow them.
    if (named.some(({ type }) => type === 'endpoints')) {
      for (const { endpoint } of candidates.splice(1))
        removed.push({ endpoint, param: list.path, reason: `${list.path} names who stands in` });
    }
    for (const standIn of named) {
      if (standIn.type === 'model') {
        const choice = { model: standIn.model, reason: list.path, score: null };
        // Who is named need not be in the lists that say whom to ask first.
        if (!add(choice, standIn.pinned))
          add(choice, standIn.pinned, { ...wishes, providers: undefined, only: undefined });
        continue;
      }
      for (const endpoint of standIn.endpoints) {
        if (candidates.some((candidate) => candidate.endpoint === endpoint)) continue;
        const aside = asideReason(endpoint, context);
        const reason = aside ?? `${list.path}: ${standIn.name}`;
        candidates.push({ endpoint, score: null, reason, aside: aside !== null });
      }
    }
  }
}

/** A candidate of a model that was chosen among others also has that model's score and reason. */
function chosen(candidate: Candidate, { score, reason }: ModelChoice): Candidate {
  if (reason === 'requested') return candidate;
  return { ...candidate, score: candidate.score ?? score, reason: `${reason}; ${candidate.reason}` };
}

const NONE: readonly Exclusion[] = [];

function notTried(endpoint: Candidate['endpoint']): Exclusion {
  return { modelId: endpoint.modelId, endpoint: endpoint.slug, reason: 'fallback is switched off' };
}

/** True when the request itself says in which order endpoints are to be tried. */
function isOrdered(wishes: RoutingWishes | undefined): boolean {
  if (!wishes || (wishes.type ?? 'priority') !== 'priority') return false;
  return wishes.prefer !== undefined || (wishes.providers !== undefined && wishes.factor === undefined);
}

/** True for the first turn of a conversation in a round: those that begin alike are to be spread as well. */
function takesTurn({ items }: CanonicalRequest, wishes: RoutingWishes): boolean {
  if (wishes.type !== 'round_robin') return false;
  return items.every((item) => item.type === 'message' && item.role !== 'assistant');
}

/** Where the gateway chose the model, a conversation stays with the one that it began with. */
function homeFirst({ choices, basis }: ModelSelection, home: string | undefined): readonly ModelChoice[] {
  if (home === undefined) return choices;
  const at = choices.findIndex(({ model }) => model.id === home);
  const choice = choices[at];
  if (at <= 0 || !choice || basis?.['auto'] !== true) return choices;
  return [choice, ...choices.filter((other) => other !== choice)];
}

/** Endpoints that are set aside are the last resort of the whole plan, not only of their model. */
function asideLast(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.some(({ aside }) => aside)
    ? [...candidates.filter(({ aside }) => !aside), ...candidates.filter(({ aside }) => aside)]
    : candidates;
}

function nobodyLeft(selection: ModelSelection, removed: readonly Removed[]): GatewayError {
  const names = selection.choices.map(({ model }) => model.id).join(', ');
  const reasons = removed.map(({ endpoint, reason }) => `${endpoint.slug}: ${reason}`).join('; ');
  const [first] = removed;
  const text = first
    ? `${first.param}: no endpoint of ${names} is left (${reasons})`
    : `no endpoint serves ${names}; add one under \`models\` in the configuration`;
  return new GatewayError('invalid_request', text, { param: first?.param ?? 'model' });
}

/** A slug of nobody is most likely a slip: it changes nothing, but not in silence. */
function reportStrangers(wishes: RoutingWishes | undefined, { catalog, report }: PlanContext): void {
  if (!wishes) return;
  for (const list of [wishes.providers, wishes.prefer, wishes.only, wishes.ignore]) {
    list?.names.forEach((name, index) => {
      const provider = name.includes('/') ? name.slice(0, name.indexOf('/')) : name;
      if (!catalog.hasProvider(provider))
        report.add(`${list.path}[${index}]`, 'dropped', 'no provider of this name is on');
    });
  }
}
