// Answers in the background through the official SDK and plain HTTP: queued, read while they are made, streamed again from any
// event, cancelled, deleted, and made whatever becomes of the client.
import { afterAll, describe, expect, test } from 'bun:test';
import type { Response as Answer, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { ManualClock } from '../../support/manual-clock.ts';
import { startStateful } from '../../support/storage/state-seed.ts';
import { eventually, eventuallyFound } from '../../support/program.ts';

const stateful = await startStateful({ background: { temporary: false } });
const client = stateful.client;
afterAll(() => stateful.close());

const model = 'sim/chat';
const ENDS = ['completed', 'failed', 'incomplete', 'cancelled'];

const ended = (id: string, of = client): Promise<Answer> =>
  eventuallyFound(
    'the answer ends',
    () => of.responses.retrieve(id),
    ({ status }) => ENDS.includes(status ?? ''),
  );

async function eventsOf(stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe('an answer in the background', () => {
  test('is queued, and complete a moment later', async () => {
    const queued = await client.responses.create({ model, input: 'What is 6 x 7?', background: true });
    expect(queued).toMatchObject({
      object: 'response',
      status: 'queued',
      background: true,
      output: [],
      error: null,
    });
    const answer = await ended(queued.id);
    expect(answer).toMatchObject({
      id: queued.id,
      status: 'completed',
      background: true,
      created_at: queued.created_at,
    });
    expect(answer.output_text.length).toBeGreaterThan(0);
    expect(answer.usage?.output_tokens).toBeGreaterThan(0);
    const items = await client.responses.inputItems.list(queued.id);
    expect(items.data).toMatchObject([
      { role: 'user', content: [{ type: 'input_text', text: 'What is 6 x 7?' }] },
    ]);
  });

  test('is streamed at once, and again from any event, during the run and afterwards', async () => {
    const stream = await client.responses.create({
      model,
      input: 'Count to three.',
      background: true,
      stream: true,
    });
    const events = await eventsOf(stream);
    expect(events.map(({ type }) => type).slice(0, 3)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
    ]);
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)?.type).toBe('response.completed');
    const { id } = (events[0] as { response: Answer }).response;
    await ended(id);
    for (const after of [0, 1, 2, 5, events.length - 2]) {
      const rest = await client.responses.retrieve(id, { stream: true, starting_after: after });
      expect(await eventsOf(rest)).toEqual(events.slice(after + 1));
    }
  });

  test('completes although its client disconnects at the first event', async () => {
    const stream = await client.responses.create({
      model,
      input: 'Say something.',
      background: true,
      stream: true,
    });
    let id = '';
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      break;
    }
    stream.controller.abort();
    expect(await ended(id)).toMatchObject({ id, status: 'completed' });
  });
});

describe('an answer in the background that is not there yet', () => {
  test('is cancelled while it runs, also if the request is repeated', async () => {
    const stream = await client.responses.create({
      model: 'sim/stall',
      input: 'Wait.',
      background: true,
      stream: true,
    });
    let id = '';
    const types: string[] = [];
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') break;
    }
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'in_progress', output: [] });
    for (let times = 0; times < 2; times += 1)
      expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled', background: true });
    const last = (await eventsOf(await client.responses.retrieve(id, { stream: true }))).at(-1);
    expect(last).toMatchObject({ type: 'response.cancelled', response: { id, status: 'cancelled' } });
    expect(await stateful.call('DELETE', `/responses/${id}`)).toMatchObject({
      status: 200,
      json: { deleted: true },
    });
    expect(await stateful.call('GET', `/responses/${id}`)).toMatchObject({ status: 404 });
  });

  test('is not changed by a cancellation once it is complete', async () => {
    const { id } = await client.responses.create({ model, input: 'Hello', background: true });
    await ended(id);
    expect(await client.responses.cancel(id)).toMatchObject({ id, status: 'completed' });
    const plain = await client.responses.create({ model, input: 'Hello' });
    expect(await stateful.call('POST', `/responses/${plain.id}/cancel`)).toMatchObject({ status: 400 });
  });

  test('that fails contains the reason, and can be read, streamed and deleted', async () => {
    const queued = await client.responses.create({
      model: 'sim/error-400',
      input: 'Hello',
      background: true,
    });
    const failed = await ended(queued.id);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'invalid_prompt' }, output: [] });
    const events = await eventsOf(await client.responses.retrieve(queued.id, { stream: true }));
    expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { error: failed.error } });
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, index) => index));
    const next = await stateful.call('POST', '/responses', {
      model,
      input: 'Go on',
      previous_response_id: queued.id,
    });
    expect(next).toMatchObject({ status: 400, json: { error: { code: 'previous_response_not_found' } } });
    await client.responses.delete(queued.id);
    expect(await stateful.call('GET', `/responses/${queued.id}`)).toMatchObject({ status: 404 });
  });

  test('fails in its stream after it had begun', async () => {
    const made = await client.responses.create({
      model: 'sim/error-in-stream',
      input: 'Hello',
      background: true,
      stream: true,
    });
    const events = await eventsOf(made).catch(() => []);
    const { id } = await latest();
    const again = await eventsOf(await client.responses.retrieve(id, { stream: true })).catch(() => []);
    expect(again.length).toBeGreaterThanOrEqual(events.length);
    expect(await ended(id)).toMatchObject({ status: 'failed' });
  });

  async function latest(): Promise<{ id: string }> {
    const { jobs } = await stateful.storage.jobs.list({ limit: 1 });
    return { id: jobs[0]!.id };
  }

  test('is streamed to later readers, and continues live', async () => {
    const { id } = await client.responses.create({
      model: 'sim/paced-10',
      input: 'Count to five.',
      background: true,
    });
    const events = await eventsOf(await client.responses.retrieve(id, { stream: true }));
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)?.type).toBe('response.completed');
  });

  test('cannot be read with another key', async () => {
    const { id } = await client.responses.create({ model: 'sim/stall', input: 'Hello', background: true });
    const stranger = stateful.stranger.responses;
    for (const asked of [
      stranger.retrieve(id),
      stranger.cancel(id),
      stranger.delete(id),
      stranger.inputItems.list(id),
    ])
      expect(
        await Promise.resolve(asked).then(
          () => 0,
          (error: { status: number }) => error.status,
        ),
      ).toBe(404);
    await client.responses.cancel(id);
  });
});

describe('is refused at once', () => {
  test.each([
    ['an answer that is not stored', { store: false }, 400, 'store'],
    ['an unknown model', { model: 'nobody/nothing' }, 404, 'model'],
    ['an unknown conversation', { conversation: 'conv_00' }, 404, 'conversation'],
    ['an unknown response', { previous_response_id: 'resp_00' }, 400, 'previous_response_id'],
    ['a wrong parameter', { temperature: 9 }, 400, 'temperature'],
  ])('%s', async (_, over, status, param) => {
    const answer = await stateful.call('POST', '/responses', {
      model,
      input: 'Hello',
      background: true,
      ...over,
    });
    expect(answer).toMatchObject({ status, json: { error: { param } } });
  });

  test('a continuation of a running response', async () => {
    const { id } = await client.responses.create({ model: 'sim/stall', input: 'Hello', background: true });
    const body = { model, input: 'Go on', background: true, previous_response_id: id };
    expect(await stateful.call('POST', '/responses', body)).toMatchObject({
      status: 400,
      json: { error: { code: 'previous_response_in_progress' } },
    });
    await client.responses.cancel(id);
  });
});

test('turns of one conversation run in the order of their requests', async () => {
  const conversation = await client.conversations.create();
  const inputs = ['first', 'second', 'third'];
  const made: string[] = [];
  for (const input of inputs) {
    const asked = { model: 'sim/echo', input, conversation: conversation.id, background: true };
    made.push((await client.responses.create(asked)).id);
  }
  for (const id of made) expect(await ended(id)).toMatchObject({ status: 'completed' });
  const items = await client.conversations.items.list(conversation.id, { order: 'asc' });
  const texts = items.data.map((item) =>
    item.type === 'message' && 'text' in item.content[0]! ? item.content[0].text : '',
  );
  expect(texts).toEqual(inputs.flatMap((input) => [input, input]));
});

test('a response can continue a background response, and has one record', async () => {
  const first = await ended(
    (await client.responses.create({ model, input: 'My name is Ada.', background: true })).id,
  );
  const next = await client.responses.create({ model, input: 'Go on.', previous_response_id: first.id });
  expect(next.status).toBe('completed');
  const { json } = await stateful.call('GET', `/generation?id=${first.id}`);
  expect(json).toMatchObject({ id: first.id.slice('resp_'.length), streamed: true, status: 200 });
});

test('requests with the same idempotency key get one response', async () => {
  const body = { model, input: 'Hello', background: true };
  const options = { headers: { 'idempotency-key': 'background-1' } };
  const [one, two] = [
    await client.responses.create(body, options),
    await client.responses.create(body, options),
  ];
  expect(two.id).toBe(one.id);
});

test('with `background.temporary`, a response that is not stored is kept for ten minutes', async () => {
  await using other = await startStateful({ background: { temporary: true } });
  const asked = { model, input: 'Hello', background: true, store: false };
  const { id } = await other.client.responses.create(asked);
  const answer = await ended(id, other.client);
  expect(answer).toMatchObject({ status: 'completed', store: false });
  const stored = await other.storage.responses.find(other.projectId, id, Date.now());
  expect(stored!.expiresAt! - stored!.createdAt).toBe(600_000);
});

test('a response that exceeds a limit waits, and its status shows that', async () => {
  await using limited = await startStateful({
    keys: [{ name: 'test', key: 'sk-test', limits: [{ concurrent: 1 }] }],
  });
  const slow = await limited.client.responses.create({
    model: 'sim/stall',
    input: 'Wait.',
    background: true,
  });
  const until = (state: string, id: string): Promise<void> =>
    eventually(`it is ${state}`, async () => (await limited.storage.jobs.get(id))?.state === state);
  await until('running', slow.id);
  const waiting = await limited.client.responses.create({ model, input: 'Hello', background: true });
  await until('waiting', waiting.id);
  const { jobs } = await limited.storage.jobs.list({ limit: 1 });
  expect(jobs[0]).toMatchObject({ attempt: 0, waits: { reason: expect.stringContaining('concurrent') } });
  expect(await limited.client.responses.retrieve(waiting.id)).toMatchObject({ status: 'queued' });
  await limited.client.responses.cancel(slow.id);
  expect(await ended(waiting.id, limited.client)).toMatchObject({ status: 'completed' });
  // Nothing is on record of the times when there was no room.
  const { json } = await limited.call('GET', `/generation?id=${waiting.id}`);
  expect(json).toMatchObject({ status: 200, outcome: 'ok' });
});

test('a kept stream ends with its last event', async () => {
  const clock = new ManualClock(Date.now());
  await using other = await startStateful({}, clock);
  const asked = { model, input: 'Hello', background: true, stream: true } as const;
  const events = await eventsOf(await other.client.responses.create(asked));
  expect(events.at(-1)?.type).toBe('response.completed');
  const { id } = (events[0] as { response: Answer }).response;
  // Clients that wait for an answer get a keep-alive every ten seconds.
  for (let tick = 0; tick < 3; tick += 1) {
    clock.advance(10_000);
    await ended(id, other.client);
  }
  expect(await eventsOf(await other.client.responses.retrieve(id, { stream: true }))).toEqual(events);
});

test('a running response is not started again if the clock of the machine changes', async () => {
  let asked = 0;
  const answering = Promise.withResolvers<void>();
  const upstream = Bun.serve({
    port: 0,
    async fetch() {
      asked += 1;
      await answering.promise;
      const choices = [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
      return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  });
  const clock = new ManualClock(Date.now());
  const protocols = { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` };
  const other = await startStateful({ providers: { up: { api_key: 'x', protocols } } }, clock);
  try {
    const { id } = await other.client.responses.create({ model: 'up/m', input: 'Hello', background: true });
    await eventually('it is asked', () => asked === 1);
    clock.step(60_000);
    for (let look = 0; look < 5; look += 1) {
      // A look at the queue, and time for it.
      clock.advance(1_000);
      for (let read = 0; read < 5; read += 1) await other.client.responses.retrieve(id);
    }
    answering.resolve();
    await ended(id, other.client);
    expect(asked).toBe(1);
  } finally {
    await other.close();
    await upstream.stop(true);
  }
});

test('an answer and its job are forgotten together', async () => {
  const clock = new ManualClock(Date.now());
  await using other = await startStateful({ background: { temporary: true } }, clock);
  const asked = { model: 'sim/error-400', input: 'Hello', background: true, store: false };
  const { id } = await other.client.responses.create(asked);
  await ended(id, other.client);
  clock.advance(600_001);
  expect(await other.call('GET', `/responses/${id}`)).toMatchObject({ status: 404 });
  await eventually(
    'the job is forgotten',
    async () => (await other.storage.jobs.list({ limit: 1 })).jobs.length === 0,
  );
});
