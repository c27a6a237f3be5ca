// Answers that an upstream charged for and that say nothing: the next endpoint is asked, in both lanes; where there is
// none, the client gets the answer as it is.
import { afterAll, describe, expect, test } from 'bun:test';
import {
  startScene,
  recordOf,
  attemptsOf,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import {
  chatBody,
  chatStream,
  messagesBody,
  messagesStream,
  responsesBody,
  responsesStream,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import { at } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const GOOD = { type: 'message', id: 'msg_good', role: 'assistant', status: 'completed' };
const SAID = { ...GOOD, content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }] };

/** By protocol: where it is asked, an empty answer and a good one, whole and streamed. */
const PROTOCOLS = {
  'openai-chat': {
    path: '/chat/completions',
    body: { messages: [{ role: 'user', content: 'Hi' }] },
    empty: [whole(chatBody('')), sse(chatStream())],
    good: [whole(chatBody('Hello')), sse(chatStream('Hello'))],
  },
  'openai-responses': {
    path: '/responses',
    body: { input: 'Hi' },
    empty: [whole(responsesBody([])), sse(responsesStream([]))],
    good: [whole(responsesBody([SAID])), sse(responsesStream([SAID]))],
  },
  'anthropic-messages': {
    path: '/messages',
    body: { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
    empty: [whole(messagesBody([], 'end_turn')), sse(messagesStream([], 'end_turn'))],
    good: [
      whole(messagesBody([{ type: 'text', text: 'Hello' }], 'end_turn')),
      sse(messagesStream([{ type: 'text', text: 'Hello' }], 'end_turn')),
    ],
  },
} as const satisfies Record<
  string,
  { path: string; body: object; empty: readonly Answer[]; good: readonly Answer[] }
>;
type Name = keyof typeof PROTOCOLS;
const NAMES = Object.keys(PROTOCOLS) as Name[];

function modelsOf(lane: string, providers: readonly string[]): object[] {
  return NAMES.map((protocol) => ({
    id: `${lane}/${protocol}`,
    endpoints: providers.map((provider) => ({
      provider,
      model: 'm',
      protocol,
      price: { input: 1, output: 4 },
    })),
  }));
}

const config = {
  routing: { retries: 1 },
  models: [...modelsOf('both', ['first', 'second']), ...modelsOf('only', ['first'])],
};
const scene = await startScene(['first', 'second'], { config });
const faithful = await startScene(['first', 'second'], { config, faithful: true });
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await faithful[Symbol.asyncDispose]();
});

const LANES = ['translate', 'relay'].flatMap((lane) =>
  NAMES.flatMap((name) => [false, true].map((stream) => [lane, name, stream] as const)),
);

describe.each(LANES)('%s, %s, streamed: %p', (lane, name, stream) => {
  const { path, body, empty, good } = PROTOCOLS[name];
  const by = (answers: readonly Answer[]): Answer => answers[stream ? 1 : 0] as Answer;
  const ask = (model: string): Promise<Response> => {
    const { gateway } = lane === 'relay' ? faithful : scene;
    return gateway.post(path, { model: `${model}/${name}`, stream, ...body });
  };
  const of = (): Scene => (lane === 'relay' ? faithful : scene);

  test('the next endpoint is tried, and the record shows it', async () => {
    of().upstream('first').script(by(empty));
    of().upstream('second').script(by(good));
    const response = await ask('both');
    // In one piece or in two.
    expect(await response.text()).toMatch(/He[^]*llo/);
    expect(response.headers.get('x-dragoman-lane')).toBe(lane);
    const record = await recordOf(of().gateway, response);
    expect(attemptsOf(record)).toEqual(['first failed', 'second completed']);
    expect(at(record, 'attempts', 0, 'error', 'message')).toContain('tokens but returned no content');
    // Both were charged.
    const costs = [0, 1].map((n) => Number(at(record, 'attempts', n, 'cost', 'usd')));
    expect(costs.every((cost) => cost > 0)).toBe(true);
    expect(Number(at(record, 'cost', 'usd'))).toBeCloseTo((costs[0] ?? 0) + (costs[1] ?? 0), 12);
  });

  test('an empty response of the only endpoint is returned as it is', async () => {
    of().upstream('first').script(by(empty));
    const response = await ask('only');
    expect(response.status).toBe(200);
    expect(await response.text()).not.toContain('"error":{');
    expect(attemptsOf(await recordOf(of().gateway, response))).toEqual(['first completed']);
  });
});

describe('an empty answer that has its reason is the answer', () => {
  test.each([
    ['it was cut at the limit', chatBody('', 'length'), []],
    ['it was filtered', chatBody('', 'content_filter'), []],
    [
      'it follows the results of tools',
      chatBody(''),
      [
        {
          role: 'assistant',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'done' },
      ],
    ],
  ])('%s', async (_, answer, more) => {
    scene.upstream('first').script(whole(answer));
    const messages = [{ role: 'user', content: 'Hi' }, ...more];
    const response = await scene.gateway.post('/chat/completions', { model: 'both/openai-chat', messages });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-attempts')).toBe('1');
  });
});
