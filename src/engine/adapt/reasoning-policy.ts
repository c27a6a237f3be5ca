// Decides reasoning effort, budget and whether a model may reason. Codecs only encode the decision. Shares and
// thresholds follow the "reasoning models" guide of the API that this gateway implements.
import type { Endpoint } from '../../catalog/index.ts';
import {
  asksForNone,
  type CanonicalEvent,
  type CanonicalRequest,
  type Effort,
  EFFORTS,
  type EventSink,
  isAssistantItem,
  type Item,
  type ReasoningRequest,
  type Report,
  type ResolvedReasoning,
} from '../../canonical/index.ts';

/**
 * Share of the output limit that an effort may spend on reasoning. low, medium and high come from the guide; the
 * others extend the series.
 */
const SHARE: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
};
/** Efforts that a budget can be converted to. */
const TIERS = ['low', 'medium', 'high'] as const;
const DEFAULT_EFFORT: Effort = 'medium';

/** Properties of an endpoint that the policy reads. */
export type ReasoningFacts = Pick<
  Endpoint,
  | 'reasoningStyle'
  | 'reasoningMandatory'
  | 'reasoningFormat'
  | 'reasoningBudget'
  | 'efforts'
  | 'maxOutputTokens'
  | 'quirks'
> &
  Partial<Pick<Endpoint, 'isReasoningKnown'>>;

/**
 * Decides the reasoning settings for an endpoint. Deviations from the request are reported under `reasoning`. Never
 * makes a request invalid that would be valid without reasoning.
 */
export function resolveReasoning(
  request: CanonicalRequest,
  facts: ReasoningFacts,
  report: Report,
): ResolvedReasoning {
  const asked = request.reasoning;
  const path = reasoningPath(asked);
  const off = asksForNone(asked);
  const explicit = asked.enabled === true || asked.effort !== undefined || asked.maxTokens !== undefined;

  if (facts.reasoningStyle === 'none') {
    if (explicit && !off) report.add(path, 'dropped', 'the model does not support reasoning');
    if (off && facts.isReasoningKnown === false)
      report.add(
        path,
        'dropped',
        'it is not known whether the model reasons, so reasoning is not switched off',
      );
    return { mode: 'unset' };
  }
  if (asked.leaveToModel && !explicit) return { mode: 'unset' };
  if (off && !facts.reasoningMandatory) return { mode: 'off' };
  if (off) report.add(path, 'approximated', 'the model always reasons; the lowest effort is used');

  const conflict = facts.quirks.exclusiveReasoning ? findConflict(request, facts) : null;
  if (conflict && !facts.reasoningMandatory) {
    if (!explicit) return { mode: 'unset' };
    if (conflict.hard) {
      report.add(path, 'dropped', `reasoning cannot be combined with ${conflict.what}`);
      return { mode: 'off' };
    }
  }

  const limit = request.maxOutputTokens ?? facts.maxOutputTokens;
  const wanted: Effort | undefined = off ? 'minimal' : asked.effort;
  const intended = wanted ?? effortOfBudget(asked.maxTokens, limit) ?? DEFAULT_EFFORT;
  const isModels = asked.leaveToModel === true && wanted === undefined && asked.maxTokens === undefined;
  // A model with optional reasoning needs an effort to be told to reason.
  const effort = isModels && facts.reasoningMandatory ? undefined : nearestEffort(intended, facts.efforts);
  if (wanted !== undefined && !off && effort !== wanted)
    report.add(
      path,
      'approximated',
      effort === undefined
        ? 'the model supports no effort levels'
        : `the model does not support the effort ${wanted}; ${effort} is used`,
    );

  if (facts.reasoningStyle === 'effort') {
    if (asked.maxTokens !== undefined && asked.effort === undefined)
      report.add(
        'reasoning.max_tokens',
        'approximated',
        effort === undefined ? 'the model supports no effort levels' : `sent as effort ${effort}`,
      );
    if (isModels && effort !== undefined)
      report.add('reasoning.max_tokens', 'approximated', `left to the model, sent as effort ${effort}`);
    return { mode: 'on', effort, budgetTokens: undefined, summary: asked.summary };
  }

  // When the endpoint supports both, an explicit budget is more specific than an effort. When it supports only
  // budgets, the effort is converted.
  const budget = budgetTokens(asked.maxTokens, intended, limit, facts.reasoningBudget);
  if (budget === null) {
    if (facts.reasoningStyle === 'both')
      return { mode: 'on', effort, budgetTokens: undefined, summary: asked.summary };
    if (explicit) report.add(path, 'dropped', 'the output limit is too small for a valid reasoning budget');
    return facts.reasoningMandatory || !explicit ? { mode: 'unset' } : { mode: 'off' };
  }
  if (asked.maxTokens !== undefined && budget !== asked.maxTokens) {
    report.add('reasoning.max_tokens', 'clamped', `the nearest valid budget is ${budget} tokens`);
  }
  return { mode: 'on', effort, budgetTokens: budget, summary: asked.summary };
}

/** Path in the report of what a client asked for: of its effort if it named nothing else. */
export function reasoningPath({ effort, enabled, maxTokens }: ReasoningRequest): string {
  return effort !== undefined && enabled === undefined && maxTokens === undefined
    ? 'reasoning.effort'
    : 'reasoning';
}

/**
 * Reasoning budget for an effort: its share of the output limit.
 * @param limit maximum tokens of the whole answer
 */
export function budgetForEffort(effort: Exclude<Effort, 'none'>, limit: number): number {
  return Math.floor(SHARE[effort] * limit);
}

/** Tier whose share is nearest to `maxTokens / limit`. Ties go to the lower tier. */
function effortForBudget(maxTokens: number, limit: number): 'low' | 'medium' | 'high' {
  // Compared as whole tokens times 100: 350 of 1000 is exactly between 20 and 50 %, which a division would round.
  const distance = (tier: (typeof TIERS)[number]): number =>
    Math.abs(maxTokens * 100 - Math.round(SHARE[tier] * 100) * limit);
  return TIERS.reduce((best, tier) => (distance(tier) < distance(best) ? tier : best));
}

function effortOfBudget(maxTokens: number | undefined, limit: number | null): Effort | undefined {
  return maxTokens === undefined || limit === null ? undefined : effortForBudget(maxTokens, limit);
}

function budgetTokens(
  maxTokens: number | undefined,
  effort: Effort,
  limit: number | null,
  legal: { readonly min: number; readonly max: number | null },
): number | null {
  const wanted = maxTokens ?? (limit === null || effort === 'none' ? null : budgetForEffort(effort, limit));
  if (wanted === null) return null;
  const most = Math.min(legal.max ?? Infinity, limit === null ? Infinity : limit - 1);
  if (most < Math.max(legal.min, 1)) return null;
  return Math.min(Math.max(wanted, legal.min), most);
}

/** @param accepted null: every effort; empty: reasoning can only be turned on or off */
function nearestEffort(wanted: Effort, accepted: readonly string[] | null): Effort | undefined {
  if (accepted === null || accepted.includes(wanted)) return wanted;
  const at = EFFORTS.indexOf(wanted);
  const legal = EFFORTS.filter((effort) => effort !== 'none' && accepted.includes(effort));
  const distance = (effort: Effort): number => Math.abs(EFFORTS.indexOf(effort) - at);
  const [first] = legal;
  return first && legal.reduce((best, effort) => (distance(effort) < distance(best) ? effort : best), first);
}

interface Conflict {
  readonly what: string;
  /**
   * True: reasoning is turned off, because nothing can be removed to resolve the conflict. False: the encoder drops a
   * sampling parameter.
   */
  readonly hard: boolean;
}

function findConflict(request: CanonicalRequest, facts: ReasoningFacts): Conflict | null {
  const choice = request.toolChoice;
  const mayBeForced = facts.reasoningStyle === 'effort' && facts.quirks.forcedThinking;
  if (
    choice &&
    !mayBeForced &&
    (choice.type === 'required' ||
      choice.type === 'tool' ||
      (choice.type === 'allowed' && choice.mode === 'required'))
  ) {
    return { what: 'a forced tool choice', hard: true };
  }
  const last = request.items.at(-1);
  if (last?.type === 'message' && last.role === 'assistant')
    return { what: 'a prefilled response', hard: true };
  // A model that chooses its own amount of reasoning may call tools without having reasoned.
  if (facts.reasoningStyle !== 'effort' && lacksSignedReasoning(request, facts.reasoningFormat))
    return { what: 'a tool turn without its signed reasoning', hard: true };
  if (request.temperature !== undefined && request.temperature !== 1)
    return { what: 'temperature', hard: false };
  if (request.topK !== undefined) return { what: 'top_k', hard: false };
  if (request.topP !== undefined && request.topP < 0.95) return { what: 'top_p', hard: false };
  return null;
}

/** True when the conversation is inside a tool turn (it ends in tool results) without reasoning in this format. */
function lacksSignedReasoning(request: CanonicalRequest, format: string | null): boolean {
  const { items } = request;
  let inToolTurn = false;
  let afterUser = false;
  // The turn may span several rounds of calls and results, and only its first round must contain reasoning. User text
  // added to results does not end it, because both are sent in one message.
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at];
    if (!item || (afterUser && item.type !== 'tool_result' && !isUserMessage(item))) break;
    afterUser = isUserMessage(item);
    if (item.type === 'tool_result') inToolTurn = true;
    else if (!afterUser && !isAssistantItem(item)) break;
    if (item.type === 'reasoning' && item.opaque?.format === format) return false;
  }
  return inToolTurn;
}

function isUserMessage(item: Item): boolean {
  return item.type === 'message' && item.role === 'user';
}

// Reasoning format: marks reasoning with the format of the endpoint's model family. Decoders only know their
// protocol's default.

export class ReasoningStamp implements EventSink {
  readonly #next: EventSink;
  readonly #format: string;

  /** @param format the endpoint's `reasoningFormat` */
  constructor(next: EventSink, format: string) {
    this.#next = next;
    this.#format = format;
  }

  on(event: CanonicalEvent): void {
    if (event.type === 'open' && event.item.type === 'reasoning') {
      this.#next.on({ ...event, item: { ...event.item, format: this.#format } });
    } else if (event.type === 'reasoning' && event.opaque) {
      this.#next.on({ ...event, opaque: { ...event.opaque, format: this.#format } });
    } else {
      this.#next.on(event);
    }
  }
}
