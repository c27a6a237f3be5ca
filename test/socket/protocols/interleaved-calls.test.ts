// Parallel tool calls whose arguments interleave: a client of Chat Completions receives one after the other, because
// OpenAI's SDKs parse the arguments of a call when the next one begins.
import { afterAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { frame, responsesBody, stream } from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());
const openai = new OpenAI({
  apiKey: scene.gateway.key,
  baseURL: `${scene.gateway.origin}/v1`,
  maxRetries: 0,
});

/** Calls in their order: name and arguments. */
type Calls = readonly (readonly [name: string, args: string])[];
/** Fragments in the order of their arrival: number of the call, and text. */
type Fragments = readonly (readonly [call: number, text: string])[];

const TWO: Calls = [
  ['f', '{"a":"}"}'],
  ['g', '{"b":2}'],
];
const INTERLEAVED: Fragments = [
  [1, '{"b":'],
  [0, '{"a":"}'],
  [1, '2}'],
  [0, '"}'],
];

function chatStreamOf(calls: Calls, fragments: Fragments): string {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    frame({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] });
  const opened = calls.map(([name], index) =>
    chunk({
      tool_calls: [{ index, id: `call_${name}`, type: 'function', function: { name, arguments: '' } }],
    }),
  );
  const filled = fragments.map(([index, text]) =>
    chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
  );
  return [...opened, ...filled, chunk({}, 'tool_calls'), 'data: [DONE]\n\n'].join('');
}

function responsesStreamOf(calls: Calls, fragments: Fragments): string {
  const items = calls.map(([name, args]) => ({
    id: `fc_${name}`,
    type: 'function_call',
    call_id: `call_${name}`,
    name,
    arguments: args,
    status: 'completed',
  }));
  const last = items.length - 1;
  return [
    ...items.map((item, output_index) =>
      frame({ type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } }),
    ),
    ...fragments.map(([output_index, delta]) =>
      frame({
        type: 'response.function_call_arguments.delta',
        output_index,
        item_id: items[output_index]?.id,
        delta,
      }),
    ),
    // The last call ends first.
    ...items
      .toReversed()
      .map((item, place) => frame({ type: 'response.output_item.done', output_index: last - place, item })),
    frame({ type: 'response.completed', response: responsesBody(items) }),
  ].join('');
}

const UPSTREAMS = { chat: chatStreamOf, responses: responsesStreamOf } as const;
const NAMES = Object.keys(UPSTREAMS) as (keyof typeof UPSTREAMS)[];

/** Calls of chunks in their order, and the final arguments by call id. */
async function ask(
  upstream: keyof typeof UPSTREAMS,
  calls: Calls,
  fragments: Fragments,
): Promise<{ readonly order: readonly number[]; readonly final: Readonly<Record<string, string>> }> {
  scene.upstream('up').script(stream(UPSTREAMS[upstream](calls, fragments)));
  const order: number[] = [];
  const answer = openai.chat.completions.stream({
    model: `one/${upstream}`,
    messages: [{ role: 'user', content: 'Hello' }],
    tools: calls.map(([name]) => ({ type: 'function', function: { name, strict: true, parameters: {} } })),
  });
  answer.on('chunk', (chunk) => {
    for (const call of chunk.choices[0]?.delta.tool_calls ?? []) order.push(call.index);
  });
  const { choices } = await answer.finalChatCompletion();
  const final = (choices[0]?.message.tool_calls ?? []).map((call) => {
    if (call.type !== 'function') throw new Error(`a call of type ${call.type}`);
    return [call.id, call.function.arguments] as const;
  });
  return { order, final: Object.fromEntries(final) };
}

test.each(NAMES)('of an upstream of %s come one after the other', async (upstream) => {
  const { order, final } = await ask(upstream, TWO, INTERLEAVED);
  expect(order).toEqual([0, 0, 0, 1, 1, 1]);
  expect(final).toEqual({ call_f: '{"a":"}"}', call_g: '{"b":2}' });
});

test.each(NAMES)('of an upstream of %s all come, also after one without arguments', async (upstream) => {
  const calls: Calls = [
    ['f', ''],
    ['g', '{"b":2}'],
    ['h', '{"c":3}'],
  ];
  scene.upstream('up').script(
    stream(
      UPSTREAMS[upstream](calls, [
        [2, '{"c":3}'],
        [1, '{"b":2}'],
      ]),
    ),
  );
  const response = await scene.gateway.post('/chat/completions', {
    model: `one/${upstream}`,
    stream: true,
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const text = await response.text();
  const places = [
    '"index":0,"id":"call_f"',
    '"index":1,"id":"call_g"',
    '"b',
    '"index":2,"id":"call_h"',
    '"c',
  ];
  const found = places.map((place) => text.indexOf(place.replaceAll(/^"([bc])$/g, '\\"$1\\"')));
  expect(found.every((at) => at >= 0)).toBe(true);
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  expect(text).toContain('"finish_reason":"tool_calls"');
});
