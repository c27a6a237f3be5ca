// Encodes the decided reasoning for the Messages API, and avoids combinations that Anthropic refuses. The engine's
// reasoning policy decides the amount.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import {
  type CanonicalRequest,
  type Effort,
  type Report,
  type Target,
  TEXTS,
} from '../../../canonical/index.ts';
import { asObject, isJsonObject, unknownMembers } from '../../../base/json/index.ts';
import { isThinking } from './encode-conversation.ts';
import type { Turn } from './encode-conversation.ts';
import { THINKING_SHAPE } from '../member-shapes.ts';
import type { WireEffort } from '../wire-types.ts';

export interface EncodedThinking {
  readonly thinking: JsonObject | undefined;
  /** Value of `output_config.effort`. */
  readonly effort: WireEffort | undefined;
}

/** Minimum `budget_tokens` (SDK type `ThinkingConfigEnabled`). */
const MIN_BUDGET = 1024;
const OFF: JsonObject = { type: 'disabled' };

/** Anthropic's levels (SDK type `OutputConfig`). `none` never occurs here, because the policy converts it to mode `off`. */
const EFFORTS: Readonly<Record<Effort, WireEffort>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
};

/**
 * Encodes `thinking` and `output_config.effort`. A budget means manual thinking, unless the model only accepts an
 * effort. Without a budget, models with efforts think adaptively. Where Anthropic would refuse thinking with the rest
 * of the request, it is disabled and reported.
 * @param maxTokens the `max_tokens` that is sent; a budget stays below it
 */
export function encodeThinking(
  request: CanonicalRequest,
  target: Target,
  turns: readonly Turn[],
  choice: JsonObject | undefined,
  maxTokens: number,
  report: Report,
): EncodedThinking {
  const { reasoning, reasoningStyle } = target;
  if (saysReasoning(request, target)) return encodeOwnThinking(request, target, report);
  if (request.protocol === 'anthropic-messages') reportUnknown(request.raw['thinking'], report);
  if (isSilent(request)) return { thinking: undefined, effort: loneEffort(request, target, report) };
  if (reasoning.mode === 'off')
    return { thinking: reasoningStyle === 'none' ? undefined : OFF, effort: undefined };
  if (reasoning.mode === 'unset') return { thinking: undefined, effort: undefined };

  const wantsBudget = reasoning.budgetTokens !== undefined && reasoningStyle !== 'effort';
  if (reasoningStyle === 'none' || (reasoningStyle === 'budget' && !wantsBudget)) {
    report.add(
      'reasoning',
      'dropped',
      reasoningStyle === 'none' ? 'the model cannot reason' : TEXTS.needsBudget,
    );
    return { thinking: undefined, effort: undefined };
  }
  // A budget fully controls manual thinking. An effort would also shorten the answer.
  const effort = wantsBudget ? undefined : encodeEffort(reasoning.effort, report);
  const mayBeForced = !wantsBudget && target.quirks.forcedThinking;
  const conflict = refusal(turns, mayBeForced ? undefined : choice, wantsBudget);
  if (conflict !== undefined) {
    report.add('reasoning', 'dropped', conflict);
    return { thinking: OFF, effort };
  }
  if (!wantsBudget) {
    // Newer models omit the thinking text by default. Omitted blocks still carry the signature.
    return {
      thinking: { type: 'adaptive', display: request.reasoning.exclude === true ? 'omitted' : 'summarized' },
      effort,
    };
  }
  const budget = legalBudget(reasoning.budgetTokens ?? 0, maxTokens, report);
  return { thinking: budget === undefined ? OFF : { type: 'enabled', budget_tokens: budget }, effort };
}

/** Reports other members of the client's `thinking`, which are lost when the decision replaces it. */
function reportUnknown(thinking: JsonValue | undefined, report: Report): void {
  for (const name in unknownMembers(asObject(thinking), THINKING_SHAPE.known))
    report.add(
      `thinking.${name}`,
      'dropped',
      'another setting of the request determines how the model thinks',
    );
}

/**
 * True if the request of a Messages client already expresses what was decided, in a form that the model accepts. It is
 * then sent unchanged, including `display`.
 */
export function saysReasoning(
  request: CanonicalRequest,
  { reasoning, reasoningStyle }: Pick<Target, 'reasoning' | 'reasoningStyle'>,
): boolean {
  if (request.protocol !== 'anthropic-messages') return false;
  const { thinking } = request.raw;
  // A request without `thinking` asks for none, whatever the gateway's default. An effort alone does not request
  // thinking, and the model may not support it.
  if (isSilent(request))
    return request.reasoning.effort === undefined || knowsEffort(request, { reasoning, reasoningStyle });
  switch (asObject(thinking)['type']) {
    case 'enabled':
      return (
        reasoning.mode === 'on' &&
        (reasoningStyle === 'budget' || reasoningStyle === 'both') &&
        reasoning.budgetTokens === request.reasoning.maxTokens
      );
    case 'adaptive':
      return (
        reasoning.mode === 'on' &&
        reasoningStyle === 'effort' &&
        (request.reasoning.effort === undefined || knowsEffort(request, { reasoning, reasoningStyle }))
      );
    case 'disabled':
      return reasoning.mode === 'off' || reasoningStyle === 'none';
    default:
      // Only Anthropic knows whether the model accepts an unknown type.
      return true;
  }
}

/** True for a Messages request without `thinking`. */
function isSilent(request: CanonicalRequest): boolean {
  return request.protocol === 'anthropic-messages' && !isJsonObject(request.raw['thinking']);
}

/** Returns the effort of a request without thinking. It affects the whole answer, if the model supports efforts. */
function loneEffort(request: CanonicalRequest, target: Target, report: Report): WireEffort | undefined {
  const { reasoning, reasoningStyle } = target;
  if (reasoning.mode === 'on' && (reasoningStyle === 'effort' || reasoningStyle === 'both'))
    return encodeEffort(reasoning.effort, report);
  if (request.reasoning.effort !== undefined)
    report.add('output_config.effort', 'dropped', 'the model does not support efforts');
  return undefined;
}

function knowsEffort(
  request: CanonicalRequest,
  { reasoning, reasoningStyle }: Pick<Target, 'reasoning' | 'reasoningStyle'>,
): boolean {
  const takesEffort = reasoningStyle === 'effort' || reasoningStyle === 'both';
  return takesEffort && reasoning.mode === 'on' && reasoning.effort === request.reasoning.effort;
}

function encodeOwnThinking(request: CanonicalRequest, target: Target, report: Report): EncodedThinking {
  const { thinking } = request.raw;
  const { effort } = request.reasoning;
  // A model that cannot think does not accept `disabled` either.
  const hasNoEffect = target.reasoningStyle === 'none' && request.reasoning.enabled === false;
  return {
    thinking: isJsonObject(thinking) && !hasNoEffect ? thinking : undefined,
    effort: hasNoEffect ? undefined : encodeEffort(effort, report),
  };
}

function encodeEffort(effort: Effort | undefined, report: Report): WireEffort | undefined {
  if (effort === undefined) return undefined;
  const encoded = EFFORTS[effort];
  if (encoded !== effort)
    report.add(
      'reasoning.effort',
      'approximated',
      `Anthropic does not support the effort ${effort}; ${encoded} is sent`,
    );
  return encoded;
}

/** Clamps the budget to at least 1024 and below `max_tokens`; undefined if that is impossible. */
function legalBudget(budget: number, maxTokens: number, report: Report): number | undefined {
  const legal = Math.min(Math.max(Math.floor(budget), MIN_BUDGET), maxTokens - 1);
  if (legal < MIN_BUDGET) {
    report.add('reasoning', 'dropped', TEXTS.thinkingNeeds(MIN_BUDGET, maxTokens));
    return undefined;
  }
  if (legal !== budget)
    report.add(
      'reasoning.max_tokens',
      'clamped',
      `a thinking budget must be at least ${MIN_BUDGET} and less than max_tokens`,
    );
  return legal;
}

/**
 * Returns why Anthropic would refuse thinking with this request; undefined if it would not (documentation "Extended
 * thinking": tool choice, prefill, and the last assistant turn, which must begin with thinking in manual mode).
 */
function refusal(
  turns: readonly Turn[],
  choice: JsonObject | undefined,
  manual: boolean,
): string | undefined {
  if (choice?.['type'] === 'any' || choice?.['type'] === 'tool')
    return 'Claude cannot think when it is forced to call a tool';
  const first = openTurn(turns);
  if (first === undefined || isThinking(first.content[0])) return undefined;
  if (turns.at(-1)?.role === 'assistant') return 'Claude cannot think when its response is prefilled';
  return manual ? 'the tool calls of the current turn lack their signed thinking' : undefined;
}

/** Returns the first assistant message of the turn that the model continues: a prefill, or calls with their results. */
function openTurn(turns: readonly Turn[]): Turn | undefined {
  let first: Turn | undefined;
  for (let i = turns.length - 1; i >= 0; i--) {
    const turn = turns[i];
    if (turn === undefined) break;
    if (turn.role === 'assistant') first = turn;
    else if (turn.role === 'user' && !turn.content.some((block) => block['type'] === 'tool_result')) break;
  }
  return first;
}
