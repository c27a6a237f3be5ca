// The resolved reasoning in the Messages API's form, and the pairs that Anthropic refuses. How much to think
// is decided by the engine's reasoning policy, never here.
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

/** Smallest `budget_tokens` (SDK type `ThinkingConfigEnabled`). */
const MIN_BUDGET = 1024;
const OFF: JsonObject = { type: 'disabled' };

/** Anthropic's levels (SDK type `OutputConfig`); `none` never arrives, the policy makes it mode `off`. */
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
 * Members `thinking` and `output_config.effort`. A budget means manual thinking, unless the model is told by
 * effort alone; without a budget, models that know effort think adaptively. Where Anthropic would refuse
 * thinking together with the rest of the request, it is switched off and reported.
 * @param maxTokens the `max_tokens` that will be sent; a budget stays below it
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
  if (saysReasoning(request, target)) return ownWords(request, target, report);
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
  // Manual thinking says all with its budget; effort beside it would also shorten the answer.
  const effort = wantsBudget ? undefined : encodeEffort(reasoning.effort, report);
  const mayBeForced = !wantsBudget && target.quirks.forcedThinking;
  const conflict = refusal(turns, mayBeForced ? undefined : choice, wantsBudget);
  if (conflict !== undefined) {
    report.add('reasoning', 'dropped', conflict);
    return { thinking: OFF, effort };
  }
  if (!wantsBudget) {
    // Newer models hide their thinking unless asked; hidden blocks still carry the signature.
    return {
      thinking: { type: 'adaptive', display: request.reasoning.exclude === true ? 'omitted' : 'summarized' },
      effort,
    };
  }
  const budget = legalBudget(reasoning.budgetTokens ?? 0, maxTokens, report);
  return { thinking: budget === undefined ? OFF : { type: 'enabled', budget_tokens: budget }, effort };
}

/** The client's own members besides these are lost where the decision takes their place. */
function reportUnknown(thinking: JsonValue | undefined, report: Report): void {
  for (const name in unknownMembers(asObject(thinking), THINKING_SHAPE.known))
    report.add(`thinking.${name}`, 'dropped', 'how the model thinks was decided otherwise');
}

/**
 * True when a client of this protocol says by itself what was decided, in a form that the model takes: its own words
 * are then sent, `display` included.
 */
export function saysReasoning(
  request: CanonicalRequest,
  { reasoning, reasoningStyle }: Pick<Target, 'reasoning' | 'reasoningStyle'>,
): boolean {
  if (request.protocol !== 'anthropic-messages') return false;
  const { thinking } = request.raw;
  // Silence asks for nothing, whatever the gateway's default. An effort alone is no wish to think, and may be unknown
  // to the model.
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
      // A type that is not known here: only Anthropic can say whether the model takes it.
      return true;
  }
}

/** True for a client of this protocol that does not speak of thinking. */
function isSilent(request: CanonicalRequest): boolean {
  return request.protocol === 'anthropic-messages' && !isJsonObject(request.raw['thinking']);
}

/** The effort of a request that asks for no thinking: it shapes the whole answer, where the model knows efforts. */
function loneEffort(request: CanonicalRequest, target: Target, report: Report): WireEffort | undefined {
  const { reasoning, reasoningStyle } = target;
  if (reasoning.mode === 'on' && (reasoningStyle === 'effort' || reasoningStyle === 'both'))
    return encodeEffort(reasoning.effort, report);
  if (request.reasoning.effort !== undefined)
    report.add('output_config.effort', 'dropped', 'the model knows no efforts');
  return undefined;
}

function knowsEffort(
  request: CanonicalRequest,
  { reasoning, reasoningStyle }: Pick<Target, 'reasoning' | 'reasoningStyle'>,
): boolean {
  const takesEffort = reasoningStyle === 'effort' || reasoningStyle === 'both';
  return takesEffort && reasoning.mode === 'on' && reasoning.effort === request.reasoning.effort;
}

function ownWords(request: CanonicalRequest, target: Target, report: Report): EncodedThinking {
  const { thinking } = request.raw;
  const { effort } = request.reasoning;
  // A model that cannot think takes no order not to.
  const isMoot = target.reasoningStyle === 'none' && request.reasoning.enabled === false;
  return {
    thinking: isJsonObject(thinking) && !isMoot ? thinking : undefined,
    effort: isMoot ? undefined : encodeEffort(effort, report),
  };
}

function encodeEffort(effort: Effort | undefined, report: Report): WireEffort | undefined {
  if (effort === undefined) return undefined;
  const encoded = EFFORTS[effort];
  if (encoded !== effort)
    report.add('reasoning.effort', 'approximated', `Anthropic has no effort ${effort}; ${encoded} is sent`);
  return encoded;
}

/** The budget inside 1024 and below `max_tokens`; undefined when there is no such number. */
function legalBudget(budget: number, maxTokens: number, report: Report): number | undefined {
  const legal = Math.min(Math.max(Math.floor(budget), MIN_BUDGET), maxTokens - 1);
  if (legal < MIN_BUDGET) {
    report.add('reasoning', 'dropped', `thinking needs ${MIN_BUDGET} tokens and the answer has ${maxTokens}`);
    return undefined;
  }
  if (legal !== budget)
    report.add(
      'reasoning.max_tokens',
      'clamped',
      `a thinking budget is at least ${MIN_BUDGET} and below max_tokens`,
    );
  return legal;
}

/**
 * Why Anthropic would refuse thinking with this request, undefined when it would not (documentation "Extended
 * thinking": tool choice, prefill, and the last assistant turn, which in manual mode must begin with thinking).
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
  if (turns.at(-1)?.role === 'assistant') return 'Claude cannot think when its answer is prefilled';
  return manual ? 'the tool calls of the current turn come without their signed thinking' : undefined;
}

/** The first assistant message of the turn that the model is to continue: a prefill, or calls with their results. */
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
