// Stored responses through the official SDK and plain HTTP: read whole and as a replayed stream, with what led to them,
// counted, deleted, and never by another key.
import { afterAll, describe, expect, test } from 'bun:test';
import { BadRequestError, NotFoundError } from 'openai';
import type { ResponseIncludable } from 'openai/resources/responses/responses';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { framesOf } from '../../support/recordings/loose.ts';
import { rejection } from '../../support/rejection.ts';
import { checkResponse, checkResponseStream } from '../../support/rules/responses-stream-rules.ts';
import { errorOf, startStateful } from '../../support/storage/state-seed.ts';

const stateful = await startStateful();
afterAll(() => stateful.close());

/** An answer that the gateway itself wrote, but did not keep. */
async function answerTo(body: JsonObject): Promise<JsonObject & { readonly id: string }> {
  const response = await stateful.gateway.post('/responses', { store: false, ...body });
  expect(response.status).toBe(200);
  return (await response.json()) as JsonObject & { id: string };
}

/** Every member that `include` shows, in items as upstreams send them. */
const GATED: readonly JsonObject[] = [
  {
    id: 'rs_0123456789abcdef01',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'Thinking of tea.' }],
    encrypted_content: 'c2VhbGVk',
  },
  {
    id: 'ws_0123456789abcdef01',
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'tea', sources: [{ type: 'url', url: 'https://tea.example' }] },
  },
  {
    id: 'msg_0123456789abcdef01',
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [
      {
        type: 'output_text',
        text: 'Tea is a drink.',
        annotations: [
          { type: 'url_citation', start_index: 0, end_index: 3, title: 'Tea', url: 'https://tea.example' },
        ],
        logprobs: [{ token: 'Tea', logprob: -0.1, bytes: [84], top_logprobs: [] }],
      },
    ],
  },
  {
    id: 'fc_0123456789abcdef01',
    type: 'function_call',
    status: 'completed',
    call_id: 'call_1',
    name: 'brew',
    arguments: '{"cups":2}',
  },
];
const ALL: ResponseIncludable[] = [
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'message.output_text.logprobs',
];

async function seedGated(): Promise<string> {
  const answer = await answerTo({ model: 'sim/chat', input: 'Hello', instructions: 'Be kind.' });
  await stateful.seed({ ...answer, output: GATED });
  return answer.id;
}

describe('a stored response', () => {
  test('is returned as it was stored', async () => {
    const answer = await answerTo({ model: 'sim/chat', input: 'What is 6 x 7?', temperature: 0.5 });
    await stateful.seed(answer);
    const { output_text: text, ...found } = await stateful.client.responses.retrieve(answer.id);
    expect(found as unknown).toEqual(answer);
    expect(text).toContain('42');
    expect(checkResponse(found)).toEqual([]);
  });

  test.each(['sim/chat', 'sim/messages', 'sim/responses'])(
    'equals the response to the client, by %s, whole and streamed',
    async (model) => {
      const { gateway, client } = stateful;
      for (const options of [{}, { reasoning: { effort: 'low', summary: 'auto' } }] as const) {
        const body = { model, input: 'What is 6 x 7?', ...options };
        const whole = (await (await gateway.post('/responses', body)).json()) as JsonObject;
        const text = await (await gateway.post('/responses', { ...body, stream: true })).text();
        const last = JSON.parse(framesOf(text).at(-1)?.data ?? '{}') as { response: JsonObject };
        for (const sent of [whole, last.response]) {
          const { output_text: _, ...found } = await client.responses.retrieve(String(sent['id']));
          // A relayed answer was sent with the upstream's times.
          for (const time of ['created_at', 'completed_at'] as const)
            expect(Math.abs((found[time] ?? 0) - Number(sent[time]))).toBeLessThanOrEqual(1);
          const times = { created_at: 0, completed_at: 0 };
          expect({ ...found, ...times } as unknown).toEqual({ ...sent, ...times });
        }
      }
    },
  );

  test('shows members on demand only that are shown on demand', async () => {
    const id = await seedGated();
    const plain = JSON.stringify(await stateful.client.responses.retrieve(id));
    for (const hidden of ['c2VhbGVk', 'sources', '"logprob":']) expect(plain).not.toContain(hidden);
    const whole = await stateful.client.responses.retrieve(id, { include: ALL });
    expect(whole.output as unknown).toEqual(GATED);
    const one = await stateful.client.responses.retrieve(id, { include: ['web_search_call.action.sources'] });
    expect(JSON.stringify(one)).toContain('sources');
    expect(JSON.stringify(one)).not.toContain('c2VhbGVk');
  });

  test('is deleted', async () => {
    const answer = await answerTo({ model: 'sim/chat', input: 'Hello' });
    await stateful.seed(answer);
    const { call, client } = stateful;
    expect(await call('DELETE', `/responses/${answer.id}`)).toEqual({
      status: 200,
      json: { id: answer.id, object: 'response', deleted: true },
    });
    expect(await rejection(client.responses.delete(answer.id))).toBeInstanceOf(NotFoundError);
    expect(await rejection(client.responses.retrieve(answer.id))).toBeInstanceOf(NotFoundError);
  });

  test('is not found with another key', async () => {
    const answer = await answerTo({ model: 'sim/chat', input: 'Hello' });
    await stateful.seed(answer);
    const { stranger, client } = stateful;
    for (const attempt of [
      () => stranger.responses.retrieve(answer.id),
      () => stranger.responses.retrieve(answer.id, { stream: true }),
      () => stranger.responses.delete(answer.id),
      () => stranger.responses.cancel(answer.id),
      () => stranger.responses.inputItems.list(answer.id),
    ])
      expect(await rejection(attempt())).toBeInstanceOf(NotFoundError);
    const counted = stranger.responses.inputTokens.count({ previous_response_id: answer.id, input: 'x' });
    expect(await rejection(counted)).toBeInstanceOf(BadRequestError);
    expect((await client.responses.retrieve(answer.id)).id).toBe(answer.id);
  });

  test('is gone after its retention', async () => {
    const clock = new ManualClock(Date.now());
    await using own = await startStateful({}, clock);
    await own.seed({ id: 'resp_short', object: 'response', output: [] }, { expiresAt: clock.now() + 1000 });
    expect((await own.call('GET', '/responses/resp_short')).status).toBe(200);
    clock.advance(1001);
    expect((await own.call('GET', '/responses/resp_short')).status).toBe(404);
    expect(await own.storage.stateUsage.bytes(own.projectId)).toBeGreaterThan(0);
    // The next purge takes it from the disk.
    clock.advance(600_000);
    while ((await own.storage.stateUsage.bytes(own.projectId)) > 0)
      await new Promise((resolve) => setImmediate(resolve));
  });

  test('cannot be cancelled unless it is made in the background', async () => {
    const answer = await answerTo({ model: 'sim/chat', input: 'Hello' });
    await stateful.seed(answer);
    const refused = await rejection(stateful.client.responses.cancel(answer.id));
    expect(refused).toBeInstanceOf(BadRequestError);
    expect((refused as BadRequestError).message).toContain('background');
    expect(await rejection(stateful.client.responses.cancel('resp_none'))).toBeInstanceOf(NotFoundError);
  });
});

describe('a replayed stream', () => {
  async function replay(path: string): Promise<string> {
    const response = await stateful.gateway.get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    return response.text();
  }

  test.each([
    ['text', { model: 'sim/chat', input: 'count to 20' }],
    ['reasoning', { model: 'sim/chat', input: 'Hello', reasoning: { effort: 'high', summary: 'auto' } }],
    ['a relayed answer', { model: 'sim/responses', input: 'Hello', reasoning: { effort: 'low' } }],
    ['an answer that was cut', { model: 'sim/chat', input: 'count to 200', max_output_tokens: 20 }],
  ])('is legal and ends with the response: %s', async (_, body) => {
    const answer = await answerTo(body);
    await stateful.seed(answer);
    const frames = framesOf(await replay(`/responses/${answer.id}?stream=true`));
    expect(checkResponseStream(frames)).toEqual([]);
    const last = JSON.parse(frames.at(-1)?.data ?? '{}') as { type: string; response: JsonObject };
    expect(last.type).toBe(`response.${String(answer['status'])}`);
    expect(last.response).toEqual(await (await stateful.gateway.get(`/responses/${answer.id}`)).json());
  });

  test('holds every kind of item, gated like the response', async () => {
    const id = await seedGated();
    const plain = await replay(`/responses/${id}?stream=true`);
    expect(checkResponseStream(framesOf(plain))).toEqual([]);
    for (const hidden of ['c2VhbGVk', 'sources', '"logprob":']) expect(plain).not.toContain(hidden);
    const include = ALL.map((word) => `include[]=${word}`).join('&');
    const frames = framesOf(await replay(`/responses/${id}?stream=true&${include}`));
    expect(checkResponseStream(frames)).toEqual([]);
    const last = JSON.parse(frames.at(-1)?.data ?? '{}') as { response: JsonObject };
    expect(last.response['output']).toEqual(GATED as unknown as JsonObject['output']);
  });

  test('begins after any event', async () => {
    const id = await seedGated();
    const whole = framesOf(await replay(`/responses/${id}?stream=true`));
    for (let after = 0; after < whole.length; after++) {
      const rest = framesOf(await replay(`/responses/${id}?stream=true&starting_after=${after}`));
      expect(rest).toEqual(whole.slice(after + 1));
    }
    const read: number[] = [];
    const stream = await stateful.client.responses.retrieve(id, { stream: true, starting_after: 2 });
    for await (const event of stream) read.push(event.sequence_number);
    expect(read).toEqual(whole.slice(3).map((_, at) => at + 3));
  });

  test('reports a failed response as failed', async () => {
    const answer = await answerTo({ model: 'sim/chat', input: 'Hello' });
    const error = { code: 'server_error', message: 'the model fell over' };
    const failed = { ...answer, status: 'failed', error, output: [], usage: null, completed_at: null };
    await stateful.seed(failed);
    const frames = framesOf(await replay(`/responses/${answer.id}?stream=true`));
    expect(checkResponseStream(frames)).toEqual([]);
    expect(frames.at(-1)).toMatchObject({ event: 'response.failed' });
    expect((JSON.parse(frames.at(-1)?.data ?? '{}') as { response: JsonObject }).response).toEqual(failed);
  });
});

describe('the items that led to a response', () => {
  const message = (id: string, text: string): JsonObject => ({
    id,
    type: 'message',
    role: 'user',
    content: text,
  });
  const listed = async (id: string): Promise<readonly (string | undefined)[]> => {
    const ids: (string | undefined)[] = [];
    const pages = stateful.client.responses.inputItems.list(id, { order: 'asc', limit: 2 });
    for await (const item of pages) ids.push(item.id);
    return ids;
  };

  test('are those of all earlier turns, then of this one', async () => {
    const turns = await Promise.all(
      ['one', 'two', 'three'].map((input) => answerTo({ model: 'sim/chat', input })),
    );
    let previousId: string | null = null;
    const expected: string[] = [];
    for (const [at, turn] of turns.entries()) {
      await stateful.seed(turn, { previousId, input: [message(`msg_in_${turn.id}`, `turn ${at}`)] });
      expected.push(`msg_in_${turn.id}`);
      expect(await listed(turn.id)).toEqual(expected);
      expected.push((turn['output'] as { id: string }[])[0]?.id ?? '');
      previousId = turn.id;
    }
    const last = turns[2]?.id ?? '';
    const newest = await stateful.client.responses.inputItems.list(last);
    expect(newest.data.map((item) => item.id)).toEqual(expected.slice(0, -1).toReversed());
    expect(newest.data[0] as unknown).toEqual({
      id: `msg_in_${last}`,
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: 'turn 2' }],
    });
    // A chain with a gap gives what is still known of this turn.
    await stateful.client.responses.delete(turns[0]?.id ?? '');
    expect(await listed(last)).toEqual([`msg_in_${last}`]);
  });

  test('are those of the conversation before the turn', async () => {
    const { client } = stateful;
    const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'before' }] });
    const answer = await answerTo({ model: 'sim/chat', input: 'now' });
    const input = [message(`msg_now_${answer.id}`, 'now')];
    await stateful.storage.responses.put(
      {
        id: answer.id,
        projectId: stateful.projectId,
        createdAt: Date.now(),
        expiresAt: null,
        previousId: null,
        conversationId: id,
        response: answer,
        input,
      },
      { appendTo: id },
    );
    await client.conversations.items.create(id, { items: [{ role: 'user', content: 'after' }] });
    const all = await client.conversations.items.list(id, { order: 'asc' });
    expect(all.data).toHaveLength(4);
    expect(await listed(answer.id)).toEqual([all.data[0]?.id, `msg_now_${answer.id}`]);
    await client.conversations.delete(id);
    expect(await listed(answer.id)).toEqual([`msg_now_${answer.id}`]);
  });

  test('do not repeat an item that was sent again', async () => {
    const first = await answerTo({ model: 'sim/chat', input: 'one' });
    const again = (first['output'] as JsonObject[])[0] ?? {};
    const question = message('msg_again_1', 'one');
    await stateful.seed(first, { input: [question] });
    const second = await answerTo({ model: 'sim/chat', input: 'two' });
    const input = [question, again, message('msg_again_2', 'two')];
    await stateful.seed(second, { previousId: first.id, input });
    expect(await listed(second.id)).toEqual(['msg_again_1', String(again['id']), 'msg_again_2']);
  });

  test('hide the addresses of images unless asked', async () => {
    const answer = await answerTo({ model: 'sim/chat', input: 'Hello' });
    const image = { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' };
    const picture = { id: 'msg_picture_1', type: 'message', role: 'user', content: [image] };
    await stateful.seed(answer, { input: [picture] });
    const { client } = stateful;
    const hidden = await client.responses.inputItems.list(answer.id);
    expect(JSON.stringify(hidden.data)).not.toContain('base64');
    const shown = await client.responses.inputItems.list(answer.id, {
      include: ['message.input_image.image_url'],
    });
    expect(shown.data[0]).toMatchObject({ content: [image] });
  });
});

describe('the count of input tokens', () => {
  const count = async (body: JsonObject): Promise<number> => {
    const { input_tokens } = await stateful.client.responses.inputTokens.count(body as object);
    return input_tokens;
  };

  test('is marked as an estimate, and grows with all content', async () => {
    const response = await stateful.gateway.post('/responses/input_tokens', { input: 'Hello, world' });
    expect(response.headers.get('x-dragoman-estimated')).toBe('true');
    expect(await response.json()).toEqual({ object: 'response.input_tokens', input_tokens: 7 });
    const input = 'Hello, world';
    const plain = await count({ input });
    expect(await count({ input, model: 'sim/chat' })).toBe(plain);
    expect(await count({ input, instructions: 'Be brief.' })).toBeGreaterThan(plain);
    const tool = { type: 'function', name: 'brew', parameters: { type: 'object' }, strict: false };
    expect(await count({ input, tools: [tool] })).toBeGreaterThan(plain + 5);
    const image = { type: 'input_image', image_url: 'https://tea.example/a.png' };
    expect(await count({ input: [{ role: 'user', content: [image] }] })).toBeGreaterThan(500);
  });

  test('counts the turns before, a conversation, and references', async () => {
    const answer = await answerTo({ model: 'sim/chat', input: 'Hello' });
    const id = `msg_long_${answer.id}`;
    const long = { id, role: 'user', content: 'word '.repeat(300) };
    await stateful.seed(answer, { input: [long] });
    expect(await count({ input: 'x', previous_response_id: answer.id })).toBeGreaterThan(300);
    expect(await count({ input: [{ type: 'item_reference', id }] })).toBeGreaterThan(300);
    const { id: conversation } = await stateful.client.conversations.create({
      items: [{ role: 'user', content: 'word '.repeat(200) }],
    });
    const counted = await count({ input: 'x', conversation });
    expect(counted).toBeGreaterThan(200);
    expect(counted).toBeLessThan(300);
  });

  test('takes text with the names of special tokens for text', async () => {
    expect(await count({ input: '<|endoftext|>' })).toBeGreaterThan(4);
  });
});

describe('errors name the invalid member', () => {
  const mistakes: readonly (readonly [string, string, unknown, string | null, number?])[] = [
    ['GET', '/responses/ID?stream=maybe', undefined, 'stream'],
    ['GET', '/responses/ID?starting_after=1', undefined, 'starting_after'],
    ['GET', '/responses/ID?stream=true&starting_after=-1', undefined, 'starting_after'],
    ['GET', '/responses/ID?include=everything', undefined, 'include'],
    ['GET', '/responses/ID/input_items?limit=1000', undefined, 'limit'],
    ['GET', '/responses/ID/input_items?order=random', undefined, 'order'],
    ['GET', '/responses/ID/input_items?after=msg_none', undefined, 'after'],
    ['GET', '/responses/resp_none', undefined, null, 404],
    ['GET', '/responses/resp_none/input_items', undefined, null, 404],
    ['POST', '/responses/resp_none/cancel', undefined, null, 404],
    ['DELETE', '/responses/resp_none', undefined, null, 404],
    ['POST', '/responses/input_tokens', { input: 5 }, 'input'],
    ['POST', '/responses/input_tokens', {}, 'input'],
    ['POST', '/responses/input_tokens', { previous_response_id: 'resp_none' }, 'previous_response_id', 400],
    ['POST', '/responses/input_tokens', { conversation: 'conv_none' }, 'conversation', 404],
    ['POST', '/responses/input_tokens', { prompt: { id: 'pmpt_none' } }, 'prompt.id', 404],
    [
      'POST',
      '/responses/input_tokens',
      { input: [{ type: 'item_reference', id: 'msg_none' }] },
      'input[0]',
      404,
    ],
  ];
  test.each(mistakes)('%s %s %j', async (method, path, body, param, status = 400) => {
    const answer = await answerTo({ model: 'sim/chat', input: 'Hello' });
    await stateful.seed(answer);
    const refused = await stateful.call(method, path.replace('ID', answer.id), body);
    expect(refused.status).toBe(status);
    expect(errorOf(refused.json).param).toBe(param);
  });
});
