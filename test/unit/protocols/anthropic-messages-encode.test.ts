// Requests that Anthropic refuses are never sent, whatever the conversation looks like.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/base/json/index.ts';
import type { Item, Part, Target } from '../../../src/canonical/index.ts';
import { asArray, asObject, asString } from '../../../src/base/json/index.ts';
import { Report } from '../../../src/canonical/index.ts';
import { fillRequest, fillTarget } from '../../support/golden-operations.ts';
import { anthropicMessages } from '../../../src/protocols/anthropic-messages/index.ts';
import { casesOf } from '../../support/share.ts';

const cache = fc.option(fc.constant({ type: 'ephemeral' }), { nil: undefined });
const text: fc.Arbitrary<Part> = fc.record({
  type: fc.constant('text' as const),
  text: fc.constantFrom('', ' ', '\n', 'Hi', 'Bye \n'),
  cache,
});
const callId = fc.constantFrom('call_1', 'call_2', 'call:3', '', 'ü');
const kind = fc.constant('function' as const);
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.record({
    type: fc.constant('message' as const),
    role: fc.constantFrom('system' as const, 'developer' as const, 'user' as const, 'assistant' as const),
    parts: fc.array(text, { maxLength: 2 }),
    cache,
  }),
  fc.record({
    type: fc.constant('reasoning' as const),
    text: fc.constant(['Hm']),
    summary: fc.constant([]),
    opaque: fc.constantFrom(
      { format: 'anthropic-claude-v1', kind: 'signature' as const, data: 's' },
      { format: 'anthropic-claude-v1', kind: 'encrypted' as const, data: 'e' },
      { format: 'openai-responses-v1', kind: 'encrypted' as const, data: 'o' },
      undefined,
    ),
  }),
  fc.record({
    type: fc.constant('tool_call' as const),
    kind,
    callId,
    name: fc.constant('f'),
    arguments: fc.constantFrom('{}', '', '[', '"x"', '{"a":1}'),
  }),
  fc.record({
    type: fc.constant('tool_result' as const),
    kind,
    callId,
    parts: fc.array(text, { maxLength: 2 }),
  }),
);
const reasoning: fc.Arbitrary<Target['reasoning']> = fc.oneof(
  fc.constant({ mode: 'unset' as const }),
  fc.constant({ mode: 'off' as const }),
  fc.record({
    mode: fc.constant('on' as const),
    effort: fc.constantFrom('minimal' as const, 'high' as const, undefined),
    budgetTokens: fc.constantFrom(undefined, 1, 1024, 5000),
    summary: fc.constant(undefined),
  }),
);
const sampling = fc.record({
  temperature: fc.constantFrom(undefined, 0, 1, 2),
  topP: fc.constantFrom(undefined, 0.5, 0.99, 1),
  topK: fc.constantFrom(undefined, 5),
  maxOutputTokens: fc.constantFrom(undefined, 1, 1025, 4000),
});

test('no request is sent that Anthropic would refuse', () => {
  fc.assert(
    fc.property(
      fc.array(item, { maxLength: 12 }),
      reasoning,
      fc.constantFrom('budget' as const, 'effort' as const, 'both' as const),
      sampling,
      fc.constantFrom(undefined, { type: 'required' as const }),
      (items, resolved, reasoningStyle, parameters, toolChoice) => {
        const target = fillTarget({
          reasoning: resolved,
          reasoningStyle,
          reasoningFormat: 'anthropic-claude-v1',
          // Rules of the newest models: the older ones take more.
          quirks: { pairedSampling: false, assistantFirst: false },
        });
        const tools = toolChoice ? [{ type: 'function' as const, name: 'f' }] : [];
        const body = anthropicMessages.upstream.encodeRequest(
          fillRequest({ items, tools, toolChoice, ...parameters }),
          target,
          new Report(),
        );
        checkMessages(asArray(body['messages']).map(asObject));
        checkThinking(body);
        expect(JSON.stringify(body).split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
      },
    ),
    { seed: 7, numRuns: casesOf(2000) },
  );
});

function checkMessages(messages: readonly JsonObject[]): void {
  expect(messages[0]?.['role']).toBe('user');
  const used = new Set<unknown>();
  messages.forEach((message, position) => {
    const { role } = message;
    const content = asArray(message['content']).map(asObject);
    expect(content.length).toBeGreaterThan(0);
    expect(role).not.toBe(messages[position - 1]?.['role']);
    const types = content.map((block) => asString(block['type']) ?? '');
    if (role === 'assistant') expect(types.at(-1)).not.toMatch(/thinking/);
    expect(types.lastIndexOf('tool_result')).toBe(types.filter((type) => type === 'tool_result').length - 1);
    for (const block of content) {
      if (block['type'] === 'text') expect(asString(block['text'])?.trim()).not.toBe('');
      if (block['type'] === 'tool_result') expect(block['tool_use_id']).toMatch(/^[a-zA-Z0-9_-]+$/);
      if (block['type'] !== 'tool_use') continue;
      expect(block['id']).toMatch(/^[a-zA-Z0-9_-]+$/);
      expect(used.has(block['id'])).toBe(false);
      used.add(block['id']);
    }
    const last = content.at(-1);
    if (position === messages.length - 1 && role === 'assistant' && last?.['type'] === 'text') {
      expect(asString(last['text'])).not.toMatch(/\s$/);
    }
  });
}

function checkThinking(body: JsonObject): void {
  const thinking = asObject(body['thinking']);
  const on = thinking['type'] === 'enabled' || thinking['type'] === 'adaptive';
  expect(Number(body['temperature'] ?? 1)).toBeLessThanOrEqual(1);
  expect(body['temperature'] !== undefined && body['top_p'] !== undefined).toBe(false);
  if (!on) return;
  expect(body['temperature']).toBeUndefined();
  expect(body['top_k']).toBeUndefined();
  expect(Number(body['top_p'] ?? 1)).toBeGreaterThanOrEqual(0.95);
  expect(asObject(body['tool_choice'])['type']).not.toBe('any');
  if (thinking['type'] !== 'enabled') return;
  const budget = Number(thinking['budget_tokens']);
  expect(budget).toBeGreaterThanOrEqual(1024);
  expect(budget).toBeLessThan(Number(body['max_tokens']));
}
