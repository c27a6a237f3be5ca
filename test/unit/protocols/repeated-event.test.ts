// Events of which only the text is read give the same as if each were read whole.
import { describe, expect, test } from 'bun:test';
import type { CanonicalEvent, ProtocolName } from '../../../src/canonical/index.ts';
import { findProtocol } from '../../../src/protocols/index.ts';
import { RepeatedEvent } from '../../../src/protocols/streams/repeated-event.ts';

describe('one event like another', () => {
  const around = (text: string): string => `{"id":"1","delta":{"content": "${text}"},"end":null}`;

  function after(first: string, text: string): RepeatedEvent {
    const repeated = new RepeatedEvent();
    repeated.note(first, 'content', text);
    return repeated;
  }

  test('its text is read as JSON', () => {
    const repeated = after(around('a'), 'a');
    expect(repeated.textOf(around('b'))).toBe('b');
    expect(repeated.textOf(around(''))).toBe('');
    expect(repeated.textOf(around('\\n\\u00e9 é \\\\'))).toBe('\né é \\');
  });

  test('an event that may have more than text, or has none, is not read', () => {
    const repeated = after(around('a'), 'a');
    for (const text of ['b","more":"', '\\"', 'b\\', '\\x', 'a\tb'])
      expect(repeated.textOf(around(text))).toBeUndefined();
    expect(repeated.textOf(around('b').replace('null', '1'))).toBeUndefined();
    expect(repeated.textOf('{"id":"1","delta":{"content": "},"end":null}')).toBeUndefined();
    repeated.forget();
    expect(repeated.textOf(around('b'))).toBeUndefined();
  });

  test('a text with an uncertain position is not recorded', () => {
    expect(after('{"content":"a","other":{"content":"a"}}', 'a').textOf('{"content":"b"}')).toBeUndefined();
    expect(after(around('\\u0061'), 'a').textOf(around('b'))).toBeUndefined();
    expect(after(around('a'.repeat(5000)), 'a'.repeat(5000)).textOf(around('b'))).toBeUndefined();
  });
});

const NAMED = (data: object): [string, string] => [(data as { type: string }).type, JSON.stringify(data)];
const UNNAMED = (data: object): [string, string] => ['', JSON.stringify(data)];
const TEXTS = [
  'Hello',
  ' wor',
  'ld',
  '',
  '"quoted"',
  'back\\',
  '\n',
  'é 😀',
  ' ',
  '","finish_reason":"stop","x":"',
  'z',
];

const chunk = (choices: unknown, more: object = {}): object => ({ id: 'c', model: 'm', choices, ...more });
const said = (delta: object, more: object = {}): object => chunk([{ index: 0, delta, ...more }]);
const words = TEXTS.map((content) => said({ content }));
const CHAT = [
  said({ role: 'assistant', content: '' }),
  ...words,
  chunk([{ index: 1, delta: { content: 'nobody asked' } }]),
  chunk([{ index: 1, delta: { content: 'for this' } }]),
  ...words,
  said({ content: 'x', annotations: [{ type: 'other' }] }),
  said({ content: 'y', annotations: [{ type: 'other' }] }),
  said({ content: 'a', foo: 'b' }),
  said({ content: 'c', foo: 'b' }),
  said({ reasoning_content: 'hm' }),
  said({ content: null, reasoning_content: 'hm' }),
  ...TEXTS.map((content) =>
    said({ content, reasoning_content: null }, { finish_reason: null, logprobs: null }),
  ),
  said({ content: 'p' }, { logprobs: { content: [{ token: 'p', logprob: -1 }] } }),
  said({ content: 'q' }, { logprobs: { content: [{ token: 'q', logprob: -1 }] } }),
  said({ tool_calls: [{ index: 0, id: 't', function: { name: 'f', arguments: '{' } }] }),
  said({ tool_calls: [{ index: 0, function: { arguments: '}' } }] }),
  ...words,
  said({}, { finish_reason: 'stop' }),
  chunk([], { usage: { prompt_tokens: 3, completion_tokens: 4 } }),
];

const delta = (index: number, members: object): object => ({
  type: 'content_block_delta',
  index,
  delta: members,
});
const texts = (index: number): object[] => TEXTS.map((text) => delta(index, { type: 'text_delta', text }));
const MESSAGES = [
  { type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 3 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
  delta(0, { type: 'thinking_delta', thinking: 'hm' }),
  delta(0, { type: 'thinking_delta', thinking: ' hm' }),
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  ...texts(1),
  delta(1, { type: 'citations_delta', citation: { type: 'char_location', cited_text: 'a' } }),
  ...texts(1),
  { type: 'content_block_stop', index: 1 },
  ...texts(1),
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  ...texts(2),
  ...texts(3),
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];

/** Events that the decoder of a protocol makes of these. */
function decoded(protocol: ProtocolName, events: readonly [string, string][]): CanonicalEvent[] {
  const seen: CanonicalEvent[] = [];
  let ids = 0;
  const context = { newId: () => `id${ids++}`, nowSeconds: () => 0 };
  const decoder = findProtocol(protocol)?.upstream.decodeStream({ on: (event) => seen.push(event) }, context);
  for (const [name, data] of events) decoder?.frame(name, data);
  decoder?.end();
  return seen;
}

test.each<[ProtocolName, [string, string][]]>([
  ['openai-chat', CHAT.map(UNNAMED)],
  ['anthropic-messages', MESSAGES.map(NAMED)],
])('a stream of %s is read correctly if no event equals the one before', (protocol, events) => {
  const spaced = events.map(([name, data], at): [string, string] => [name, ' '.repeat(at) + data]);
  const whole = decoded(protocol, spaced);
  expect(whole.length).toBeGreaterThan(30);
  expect(decoded(protocol, events)).toEqual(whole);
});
