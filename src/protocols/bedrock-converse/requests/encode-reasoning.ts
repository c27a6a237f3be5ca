// Encodes the decided reasoning in the form of the model's family: Converse has none of its own and forwards
// `additionalModelRequestFields`. The engine's reasoning policy decides the amount.
import type { JsonObject } from '../../../base/json/index.ts';
import { type CanonicalRequest, type Report, type Target, TEXTS } from '../../../canonical/index.ts';

/** Minimum `budget_tokens` of Claude (documentation "Extended thinking"). */
const MIN_BUDGET = 1024;
const OFF: JsonObject = { thinking: { type: 'disabled' } };

/**
 * Returns members of `additionalModelRequestFields`, possibly none.
 * @param maxTokens the limit that will be sent, above the budget; undefined: none
 */
export function encodeReasoning(
  request: CanonicalRequest,
  target: Target,
  maxTokens: number | undefined,
  report: Report,
): JsonObject {
  const { reasoning, reasoningStyle, quirks } = target;
  if (reasoning.mode === 'unset' || reasoningStyle === 'none') return {};
  if (quirks.reasoningField === 'thinking') return encodeThinking(request, target, maxTokens, report);
  if (
    quirks.reasoningField === 'reasoning_effort' &&
    reasoning.mode === 'on' &&
    reasoning.effort !== undefined
  )
    return { reasoning_effort: reasoning.effort };
  const what = reasoning.mode === 'off' ? 'switching reasoning off' : 'a reasoning effort';
  report.add('reasoning', 'dropped', `Bedrock does not support ${what} for this model`);
  return {};
}

/** Encodes Claude's members as documented for Converse. */
function encodeThinking(
  request: CanonicalRequest,
  { reasoning, reasoningStyle }: Target,
  maxTokens: number | undefined,
  report: Report,
): JsonObject {
  if (reasoning.mode !== 'on') return OFF;
  if (reasoning.budgetTokens !== undefined && reasoningStyle !== 'effort') {
    const legal = Math.min(
      Math.max(Math.floor(reasoning.budgetTokens), MIN_BUDGET),
      (maxTokens ?? Infinity) - 1,
    );
    if (legal < MIN_BUDGET) {
      report.add('reasoning', 'dropped', TEXTS.thinkingNeeds(MIN_BUDGET, maxTokens));
      return OFF;
    }
    if (legal !== reasoning.budgetTokens)
      report.add(
        'reasoning.max_tokens',
        'clamped',
        `a thinking budget must be at least ${MIN_BUDGET} and less than the output limit`,
      );
    return { thinking: { type: 'enabled', budget_tokens: legal } };
  }
  if (reasoningStyle === 'budget') {
    report.add('reasoning', 'dropped', TEXTS.needsBudget);
    return {};
  }
  const display = request.reasoning.exclude === true ? 'omitted' : 'summarized';
  const thinking = { type: 'adaptive', display };
  if (reasoning.effort === undefined) return { thinking };
  const effort = reasoning.effort === 'minimal' || reasoning.effort === 'none' ? 'low' : reasoning.effort;
  if (effort !== reasoning.effort)
    report.add(
      'reasoning.effort',
      'approximated',
      `Claude does not support the effort ${reasoning.effort}; ${effort} is sent`,
    );
  return { thinking, output_config: { effort } };
}
