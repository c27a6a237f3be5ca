import { describe, expect, test } from 'bun:test';
import { Report } from '../../../../src/canonical/index.ts';
import type { CanonicalRequest, ReasoningRequest } from '../../../../src/canonical/index.ts';
import { NO_QUIRKS } from '../../../../src/catalog/providers/provider.ts';
import {
  budgetForEffort,
  resolveReasoning,
  type ReasoningFacts,
} from '../../../../src/engine/adapt/reasoning-policy.ts';

function request(reasoning: ReasoningRequest, more: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return {
    protocol: 'openai-chat',
    raw: {},
    model: 'm',
    items: [{ type: 'message', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    tools: [],
    stream: false,
    gateway: {},
    extra: {},
    report: new Report(),
    ...more,
    reasoning,
  };
}
const facts = (more: Partial<ReasoningFacts> = {}): ReasoningFacts => ({
  reasoningStyle: 'budget',
  reasoningMandatory: false,
  reasoningFormat: null,
  reasoningBudget: { min: 0, max: null },
  efforts: null,
  maxOutputTokens: 4000,
  quirks: NO_QUIRKS,
  ...more,
});
const claude = facts({
  reasoningFormat: 'anthropic-claude-v1',
  reasoningBudget: { min: 1024, max: null },
  quirks: { ...NO_QUIRKS, exclusiveReasoning: true },
});

describe('worked values of requirement 6.10', () => {
  test.each([
    ['low', 800],
    ['medium', 2000],
    ['high', 3200],
    ['minimal', 400],
    ['xhigh', 3600],
  ] as const)('%s of 4000 is %d', (effort, budget) => {
    expect(budgetForEffort(effort, 4000)).toBe(budget);
    expect(resolveReasoning(request({ effort }), facts(), new Report())).toMatchObject({
      mode: 'on',
      budgetTokens: budget,
    });
  });
});

test('the default is medium if the model can reason, and nothing if it cannot', () => {
  expect(resolveReasoning(request({}), facts(), new Report())).toMatchObject({
    mode: 'on',
    effort: 'medium',
    budgetTokens: 2000,
  });
  expect(resolveReasoning(request({}), facts({ reasoningStyle: 'none' }), new Report())).toEqual({
    mode: 'unset',
  });
});

test('off overrides effort and budget; for a model that always reasons, this is reported', () => {
  expect(
    resolveReasoning(request({ enabled: false, effort: 'high', maxTokens: 5000 }), facts(), new Report()),
  ).toEqual({ mode: 'off' });
  const report = new Report();
  const mandatory = facts({
    reasoningStyle: 'effort',
    reasoningMandatory: true,
    efforts: ['low', 'medium', 'high'],
  });
  expect(resolveReasoning(request({ effort: 'none' }), mandatory, report)).toMatchObject({
    mode: 'on',
    effort: 'low',
  });
  expect(report.header()).toBe('reasoning.effort:approximated');
});

test('budgets stay within the legal interval, and thinking is off if there is none', () => {
  const at = (reasoning: ReasoningRequest, maxOutputTokens: number): unknown =>
    resolveReasoning(request(reasoning, { maxOutputTokens }), claude, new Report());
  expect(at({ effort: 'low' }, 4000)).toMatchObject({ budgetTokens: 1024 });
  expect(at({ maxTokens: 9000 }, 4000)).toMatchObject({ budgetTokens: 3999 });
  expect(at({ effort: 'high' }, 1024)).toEqual({ mode: 'off' });
  expect(at({}, 1024)).toEqual({ mode: 'unset' });
});

test('a default is never added if it would break the call', () => {
  const broken: Partial<CanonicalRequest>[] = [
    { temperature: 0 },
    { topP: 0.5 },
    { topK: 5 },
    { toolChoice: { type: 'required' } },
    { items: [{ type: 'message', role: 'assistant', parts: [{ type: 'text', text: 'So' }] }] },
  ];
  for (const more of broken)
    expect(resolveReasoning(request({}, more), claude, new Report())).toEqual({ mode: 'unset' });
  const report = new Report();
  expect(
    resolveReasoning(request({ effort: 'high' }, { toolChoice: { type: 'required' } }), claude, report),
  ).toEqual({ mode: 'off' });
  expect(report.header()).toBe('reasoning.effort:dropped');
});

test('inside a tool turn, thinking needs the signed reasoning of that turn', () => {
  const call = { type: 'tool_call', kind: 'function', callId: 'c1', name: 'f', arguments: '{}' } as const;
  const result = { type: 'tool_result', kind: 'function', callId: 'c1', parts: [] } as const;
  const user = { type: 'message', role: 'user', parts: [{ type: 'text', text: 'hi' }] } as const;
  const signed = {
    type: 'reasoning',
    text: ['t'],
    summary: [],
    opaque: { format: 'anthropic-claude-v1', kind: 'signature', data: 'sig' },
  } as const;
  const ask = (items: CanonicalRequest['items']): unknown =>
    resolveReasoning(request({ enabled: true }, { items }), claude, new Report());
  expect(ask([user, call, result])).toEqual({ mode: 'off' });
  expect(ask([user, signed, call, result])).toMatchObject({ mode: 'on' });
  expect(
    ask([user, signed, call, result, { ...call, callId: 'c2' }, { ...result, callId: 'c2' }]),
  ).toMatchObject({ mode: 'on' });
  expect(
    ask([user, { ...signed, opaque: { ...signed.opaque, format: 'openai-responses-v1' } }, call, result]),
  ).toEqual({ mode: 'off' });
  // A user who adds to the results does not end the turn; an answer does.
  expect(ask([user, call, result, user])).toEqual({ mode: 'off' });
  expect(ask([user, signed, call, result, user, user])).toMatchObject({ mode: 'on' });
  const answer = { type: 'message', role: 'assistant', parts: user.parts } as const;
  expect(ask([user, call, result, answer, user])).toMatchObject({ mode: 'on' });
  const report = new Report();
  expect(resolveReasoning(request({}, { items: [user, call, result, user] }), claude, report)).toEqual({
    mode: 'unset',
  });
  expect(report.size).toBe(0);
});

test('efforts that a model does not support become the nearest supported one', () => {
  const report = new Report();
  const gptOss = facts({ reasoningStyle: 'effort', efforts: ['low', 'medium', 'high'] });
  expect(resolveReasoning(request({ effort: 'xhigh' }), gptOss, report)).toMatchObject({ effort: 'high' });
  expect(report.header()).toBe('reasoning.effort:approximated');
});

test('an amount that is left to the model is not set if it reasons anyway', () => {
  const asked = { enabled: true, leaveToModel: true } as const;
  const gemini3 = facts({ reasoningStyle: 'effort', reasoningMandatory: true, efforts: ['low', 'high'] });
  const report = new Report();
  expect(resolveReasoning(request(asked), gemini3, report)).toMatchObject({ mode: 'on', effort: undefined });
  expect(report.size).toBe(0);
  const silent = facts({ reasoningStyle: 'effort', efforts: ['none', 'low', 'medium', 'high'] });
  expect(resolveReasoning(request(asked), silent, report)).toMatchObject({ mode: 'on', effort: 'medium' });
  expect(report.header()).toBe('reasoning.max_tokens:approximated');
});

test('a model that can only reason or not gets no effort at all', () => {
  const report = new Report();
  const onOff = facts({ reasoningStyle: 'effort', efforts: [] });
  expect(resolveReasoning(request({ effort: 'high' }), onOff, report)).toEqual({
    mode: 'on',
    effort: undefined,
    budgetTokens: undefined,
    summary: undefined,
  });
  expect(report.header()).toBe('reasoning.effort:approximated');
});
