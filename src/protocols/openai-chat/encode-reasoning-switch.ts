// How a target is told to think or not, in the one field that it knows. What to ask for was decided by the
// engine; this only spells it.
import type { MutableJsonObject } from '../../base/json/index.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import type { EncodeContext } from './encode-context.ts';

/** Writes the target's reasoning field; reports what the client asked for and the target has no field for. */
export function encodeReasoningSwitch(
  body: MutableJsonObject,
  request: CanonicalRequest,
  context: EncodeContext,
): void {
  const { reasoning, reasoningStyle, quirks } = context.target;
  if (reasoning.mode === 'unset') return;
  const on = reasoning.mode === 'on';
  const effort = on ? reasoning.effort : undefined;
  const takesBudget = reasoningStyle === 'budget' || reasoningStyle === 'both';
  const budget = on && takesBudget ? reasoning.budgetTokens : undefined;
  switch (quirks.reasoningField) {
    case 'reasoning_effort':
      body['reasoning_effort'] = on ? effort : 'none';
      break;
    case 'reasoning':
      // Effort and budget exclude each other there (OpenRouter, guide "Reasoning Tokens", 2026-08).
      if (!on) body['reasoning'] = { enabled: false };
      else if (budget !== undefined) body['reasoning'] = { max_tokens: budget };
      else body['reasoning'] = effort === undefined ? { enabled: true } : { effort };
      break;
    case 'thinking':
      body['thinking'] = { type: on ? 'enabled' : 'disabled', budget_tokens: budget };
      if (reasoningStyle === 'effort' || reasoningStyle === 'both') body['reasoning_effort'] = effort;
      break;
    case 'enable_thinking':
      body['enable_thinking'] = on;
      body['thinking_budget'] = budget;
      break;
    case 'chat_template_kwargs':
      body['chat_template_kwargs'] = { enable_thinking: on };
      break;
    case 'none': {
      const { enabled, effort: word, maxTokens } = request.reasoning;
      if (enabled === undefined && word === undefined && maxTokens === undefined) break;
      context.report.add('reasoning', 'dropped', 'the upstream has no field to control reasoning');
    }
  }
}
