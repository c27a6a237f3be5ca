// The stream that a client reads follows the rules, whatever the order in which the events of an answer come, and says
// what the whole answer says. FUZZ_SEED varies the orders.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { CanonicalEvent } from '../../../src/canonical/index.ts';
import { Collector } from '../../../src/canonical/index.ts';
import { anthropicMessages } from '../../../src/protocols/anthropic-messages/index.ts';
import type { AnswerContext } from '../../../src/protocols/index.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';
import { fillRequest } from '../../support/golden-operations.ts';
import { readMessage, readMessagesStream } from '../../support/rules/messages-stream-rules.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const RUNS = 500;
const OWN = 'anthropic-messages';

/** The events of one item, in order; items are then shuffled into each other. */
type Script = (index: number) => CanonicalEvent[];

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
const pieces = fc.array(words, { minLength: 1, maxLength: 4 });

const message: fc.Arbitrary<Script> = pieces.map((texts) => (index) => [
  { type: 'open', index, item: { type: 'message' } },
  ...texts.map((text, at): CanonicalEvent => ({ type: 'text', index, part: at >> 1, kind: 'text', text })),
  { type: 'close', index },
]);
const reasoning: fc.Arbitrary<Script> = fc
  .record({
    texts: fc.array(words, { maxLength: 3 }),
    kind: fc.constantFrom('text', 'summary'),
    opaque: fc.constantFrom(
      undefined,
      { format: 'anthropic-claude-v1', kind: 'signature', data: 'c2ln' },
      { format: 'anthropic-claude-v1', kind: 'encrypted', data: 'ZGF0YQ==' },
      { format: 'openai-responses-v1', kind: 'encrypted', data: 'gAAA' },
      { format: 'google-gemini-v1', kind: 'signature', data: 'Z2Vt' },
    ),
  })
  .map(({ texts, kind, opaque }) => (index) => [
    { type: 'open', index, item: { type: 'reasoning', id: 'rs_1', format: opaque?.format } },
    ...texts.map((text): CanonicalEvent => ({ type: 'reasoning', index, kind, part: 0, text })),
    ...(opaque ? [{ type: 'reasoning', index, kind, part: 0, text: '', opaque } as const] : []),
    { type: 'close', index },
  ]);
const call: fc.Arbitrary<Script> = fc
  .record({
    value: fc.oneof(fc.dictionary(words, words), fc.constant(null)),
    size: fc.integer({ min: 1, max: 5 }),
  })
  .map(({ value, size }) => (index) => {
    const json = value === null ? '' : JSON.stringify(value);
    const fragments: string[] = [];
    for (let at = 0; at < json.length; at += size) fragments.push(json.slice(at, at + size));
    return [
      {
        type: 'open',
        index,
        item: { type: 'tool_call', kind: 'function', callId: `call_${index}`, name: 'f' },
      },
      ...fragments.map((text): CanonicalEvent => ({ type: 'arguments', index, text })),
      { type: 'close', index },
    ];
  });
const hosted: fc.Arbitrary<Script> = fc.constant((index) => {
  const raw = { type: 'server_tool_use', id: `srvtoolu_${index}`, name: 'web_search', input: { query: 'x' } };
  return [
    {
      type: 'open',
      index,
      item: {
        type: 'hosted_call',
        kind: 'server_tool_use',
        source: { protocol: OWN, raw: { ...raw, input: {} } },
      },
    },
    { type: 'close', index, source: { protocol: OWN, raw } },
  ];
});
const foreign: fc.Arbitrary<Script> = fc.constant((index) => {
  const source = { protocol: 'openai-responses', raw: { type: 'web_search_call' } } as const;
  return [
    { type: 'open', index, item: { type: 'hosted_call', kind: 'web_search_call', source } },
    { type: 'close', index, source },
  ];
});

const answers = fc.record({
  scripts: fc.array(fc.oneof(message, reasoning, call, call, hosted, foreign), { maxLength: 8 }),
  /** Which item goes on next, modulo those that can. */
  picks: fc.array(fc.nat(), { minLength: 80, maxLength: 80 }),
  reason: fc.constantFrom(
    'stop',
    'tool_calls',
    'length',
    'stop_sequence',
    'content_filter',
    'pause',
    'unknown',
  ),
  sequential: fc.boolean(),
});

test('streams are legal and complete for any order of items', () => {
  fc.assert(
    fc.property(answers, ({ scripts, picks, reason, sequential }) => {
      const events = interleave(scripts, sequential ? [] : picks);
      const finish = { type: 'finish', reason, stopSequence: 'END' } as const;
      let frames = '';
      const sink = anthropicMessages.server?.encodeStream((text) => (frames += text), context());
      const collector = new Collector();
      for (const event of [{ type: 'start' } as const, ...events, finish]) {
        sink?.on(event);
        collector.on(event);
      }
      const streamed = readMessagesStream(frames);
      const body = anthropicMessages.server?.encodeResponse(collector.result(), context());
      const whole = readMessage(body as Record<string, unknown>);
      expect(streamed.stopReason).toBe(whole.stopReason);
      if (sequential) expect(merged(streamed.content)).toEqual(merged(whole.content));
      expect(essence(streamed.content)).toEqual(essence(whole.content));
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

test('fifty thousand open calls take linear time', () => {
  let length = 0;
  const sink = anthropicMessages.server?.encodeStream((text) => (length += text.length), context());
  sink?.on({ type: 'start' });
  const calls = 50_000;
  const item = (index: number) =>
    ({ type: 'tool_call', kind: 'function', callId: `call_${index}`, name: 'f' }) as const;
  const before = usedMs();
  for (let index = 0; index < calls; index++) sink?.on({ type: 'open', index, item: item(index) });
  for (let index = calls - 1; index >= 0; index--) sink?.on({ type: 'arguments', index, text: '{}' });
  for (let index = 0; index < calls; index++) sink?.on({ type: 'close', index });
  sink?.on({ type: 'finish', reason: 'tool_calls' });
  // A tenth of a second; seconds would mean that time grows with the square.
  expect(usedMs() - before).toBeLessThan(3000);
  expect(length).toBeGreaterThan(calls * 100);
});

/** New items open in the order of their indices, as decoders have it. */
function interleave(scripts: readonly Script[], picks: readonly number[]): CanonicalEvent[] {
  const queues = scripts.map((script, index) => script(index));
  const events: CanonicalEvent[] = [];
  let opened = 0;
  for (let step = 0; ; step++) {
    const ready = queues.filter((queue, index) => queue.length > 0 && index <= opened);
    const queue = ready[(picks[step % picks.length] ?? 0) % Math.max(ready.length, 1)];
    const event = queue?.shift();
    if (!event) return events;
    if (event.type === 'open') opened++;
    events.push(event);
  }
}

/** Text of neighbouring blocks is one. */
function merged(content: readonly Readonly<Record<string, unknown>>[]): unknown[] {
  const out: Record<string, unknown>[] = [];
  for (const block of content) {
    const last = out.at(-1);
    if (block['type'] === 'text' && last?.['type'] === 'text')
      last['text'] = String(last['text']) + String(block['text']);
    else out.push({ ...block });
  }
  return out;
}

/** Parts that no order may change: calls with their input, hosted work, all thinking, every signature of Claude's. */
function essence(content: readonly Readonly<Record<string, unknown>>[]): unknown {
  const of = (type: string): unknown[] => content.filter((block) => block['type'] === type);
  const text = (type: string, member: string): string =>
    content
      .filter((block) => block['type'] === type)
      .flatMap((block) => [...String(block[member])])
      .toSorted()
      .join('');
  // Hosted work is told when it is complete.
  const hostedIds = of('server_tool_use')
    .map((block) => JSON.stringify(block))
    .toSorted();
  return [of('tool_use'), hostedIds, text('thinking', 'thinking'), text('text', 'text')];
}

function context(): AnswerContext {
  const request = fillRequest({ protocol: OWN });
  return { id: 'gen-1', createdSeconds: 1, model: 'test/model', request, reasoningContentMirror: false };
}
