// Upstreams whose answers have no end, or too much of something: the try fails with an error that names the limit, natively
// in the client's protocol, and the connection is closed.
import { afterAll, expect, test } from 'bun:test';
import { MAX_ANSWER_NODES } from '../../../src/base/json/index.ts';
import {
  MAX_ANSWER_CHARS,
  MAX_ANSWER_ITEMS,
  MAX_ARGUMENT_CHARS,
  MAX_FRAME_BYTES,
  MAX_ITEM_PARTS,
} from '../../../src/canonical/index.ts';
import { CHAT_OPENING, chatChunk, frame } from '../../support/upstreams/answers.ts';
import { CLIENTS } from '../../support/upstreams/client-dialects.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const translating = await startScene(['up']);
const relaying = await startScene(['up'], { faithful: true });
afterAll(async () => {
  await translating[Symbol.asyncDispose]();
  await relaying[Symbol.asyncDispose]();
});

const MIB = 1024 * 1024;
const call = (text: string, index = 0): object => ({
  tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'f', arguments: text } }],
});

/** An answer that goes on until nobody listens any more. */
function endless(opening: string, more: (at: number) => string): Answer {
  return (exchange) => {
    let isOpen = true;
    void exchange.closed.then(() => (isOpen = false));
    exchange.openStream();
    exchange.chunk(opening);
    let at = 0;
    const write = (): void => {
      while (isOpen && exchange.unsentBytes < 4 * MIB) exchange.chunk(more(at++));
      if (isOpen) setImmediate(write);
    };
    write();
  };
}

const many = (from: number, count: number, each: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => each(from * count + at)).join('');

const delta = (members: object): string =>
  frame({ type: 'response.output_text.delta', output_index: 0, ...members });
const RESPONSE =
  frame({ type: 'response.created', response: { id: 'r', model: 'm', output: [] } }) +
  frame({
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'message', id: 'i', content: [] },
  });

const TRANSLATED: readonly (readonly [what: string, model: string, limit: number, answer: Answer])[] = [
  [
    'arguments of a call',
    'one/chat',
    MAX_ARGUMENT_CHARS,
    endless(CHAT_OPENING + chatChunk(call('')), () => chatChunk(call('x'.repeat(MIB)))),
  ],
  [
    'reasoning',
    'one/chat',
    MAX_ANSWER_CHARS,
    endless(CHAT_OPENING, () => chatChunk({ reasoning_content: 'x'.repeat(4 * MIB) })),
  ],
  [
    'calls',
    'one/chat',
    MAX_ANSWER_ITEMS,
    endless(CHAT_OPENING, (from) => many(from, 500, (at) => chatChunk(call('', at)))),
  ],
  [
    'parts of an item',
    'one/responses',
    MAX_ITEM_PARTS,
    endless(RESPONSE, (from) => many(from, 500, (at) => delta({ content_index: at, delta: 'x' }))),
  ],
  [
    'sources',
    'one/responses',
    MAX_ANSWER_ITEMS,
    endless(RESPONSE + delta({ content_index: 0, delta: 'x' }), (from) =>
      many(from, 500, (at) =>
        frame({
          type: 'response.output_text.annotation.added',
          output_index: 0,
          content_index: 0,
          annotation_index: at,
          annotation: {
            type: 'url_citation',
            url: 'https://a.example',
            title: 't',
            start_index: 0,
            end_index: 1,
          },
        }),
      ),
    ),
  ],
];

test.each(TRANSLATED)('ends a translated stream of endless %s', async (_, model, limit, answer) => {
  const upstream = translating.upstream('up');
  upstream.always(answer);
  const { path, ask, receive } = CLIENTS['openai-chat'];
  const response = await translating.gateway.post(path(model, true), ask(model, true));
  const { error } = receive(true, await response.text());
  expect(error).toContain(`more than ${limit} `);
  await upstream.exchanges[0]?.closed;
});

test.each([
  ['relay', (): Scene => relaying],
  ['translate', (): Scene => translating],
] as const)('ends a stream with an endless event, %s lane', async (_, sceneOf) => {
  const scene = sceneOf();
  const upstream = scene.upstream('up');
  upstream.always(endless(CHAT_OPENING + chatChunk({ content: 'Hello' }) + 'data: {', () => 'x'.repeat(MIB)));
  const { path, ask, receive } = CLIENTS['openai-chat'];
  const response = await scene.gateway.post(path('one/chat', true), ask('one/chat', true));
  const { text, error } = receive(true, await response.text());
  expect([text, error]).toEqual(['Hello', expect.stringContaining(`longer than ${MAX_FRAME_BYTES} bytes`)]);
  await upstream.exchanges[0]?.closed;
});

test.each([true, false])('more objects than are worth parsing, streamed: %p', async (stream) => {
  const upstream = translating.upstream('up');
  const text = `{"choices":[${'{},'.repeat(MAX_ANSWER_NODES)}{}]}`;
  upstream.always((exchange) => {
    exchange.openStream(stream ? {} : { 'content-type': 'application/json' });
    exchange.chunk(stream ? `${CHAT_OPENING}data: ${text}\n\n` : text);
    exchange.endStream();
  });
  const { path, ask } = CLIENTS['openai-chat'];
  const response = await translating.gateway.post(path('one/chat', stream), ask('one/chat', stream));
  expect(await response.text()).toContain(`of more than ${MAX_ANSWER_NODES} objects and arrays`);
});

test('ends a stream with an event of endless lines', async () => {
  const upstream = translating.upstream('up');
  upstream.always(endless(CHAT_OPENING, () => `data: ${'x'.repeat(MIB)}\n`));
  const { path, ask } = CLIENTS['openai-chat'];
  const response = await translating.gateway.post(path('one/chat', true), ask('one/chat', true));
  expect(await response.text()).toContain(`longer than ${MAX_FRAME_BYTES} bytes`);
});
