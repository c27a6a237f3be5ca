// Anthropic's Message Batches through the official SDK: any model in each request.
import Anthropic from '@anthropic-ai/sdk';
import type { MessageBatch } from '@anthropic-ai/sdk/resources/messages/batches';
import { afterAll, describe, expect, test } from 'bun:test';
import { TEST_KEY } from '../../support/harness.ts';
import { OTHER_KEY, startStateful } from '../../support/storage/state-seed.ts';
import { eventuallyFound } from '../../support/program.ts';

const stateful = await startStateful({ batches: { max_delay_ms: 0, max_requests: 50 } });
const baseURL = stateful.gateway.baseURL.replace(/\/v1$/, '');
const client = new Anthropic({ apiKey: TEST_KEY, baseURL, maxRetries: 0 });
const stranger = new Anthropic({ apiKey: OTHER_KEY, baseURL, maxRetries: 0 });
afterAll(() => stateful.close());

const batches = () => client.messages.batches;

function request(custom_id: string, over: object = {}) {
  const messages = [{ role: 'user' as const, content: `This is\n${custom_id}.` }];
  return { custom_id, params: { model: 'sim/messages', max_tokens: 100, messages, ...over } };
}

const ended = (id: string): Promise<MessageBatch> =>
  eventuallyFound(
    'the batch ends',
    () => batches().retrieve(id),
    ({ processing_status }) => processing_status === 'ended',
  );

async function resultsOf(id: string) {
  const results = [];
  for await (const result of await batches().results(id)) results.push(result);
  return results;
}

async function statusOf(asked: PromiseLike<unknown>): Promise<number | undefined> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof Anthropic.APIError) return error.status as number | undefined;
  }
  return undefined;
}

describe('a batch of messages', () => {
  test('answers every valid request by any model, and reports the errors of the others', async () => {
    const models = ['sim/messages', 'sim/chat', 'sim/gemini'];
    const made = await batches().create({
      requests: [
        ...models.map((model) => request(model.replace('/', '-'), { model })),
        request('streamed', { stream: true }),
        request('nobody', { model: 'nobody/knows' }),
      ],
    });
    expect(made).toMatchObject({
      type: 'message_batch',
      processing_status: 'in_progress',
      request_counts: { processing: 5, succeeded: 0 },
      results_url: null,
    });
    expect(made.id).toStartWith('msgbatch_');
    const batch = await ended(made.id);
    expect(batch.request_counts).toEqual({
      processing: 0,
      succeeded: 3,
      errored: 2,
      canceled: 0,
      expired: 0,
    });
    const results = await resultsOf(made.id);
    expect(results.map(({ custom_id, result }) => [custom_id, result.type])).toEqual([
      ['sim-messages', 'succeeded'],
      ['sim-chat', 'succeeded'],
      ['sim-gemini', 'succeeded'],
      ['streamed', 'errored'],
      ['nobody', 'errored'],
    ]);
    for (const { result } of results.slice(0, 3))
      expect(result).toMatchObject({ message: { type: 'message', role: 'assistant' } });
    expect(results[3]?.result).toMatchObject({
      error: {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining('stream') },
      },
    });
  });

  test('is listed in pages, deleted, and only visible to its key', async () => {
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c'])
      ids.unshift((await batches().create({ requests: [request(name)] })).id);
    const page = await batches().list({ limit: 2 });
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(page.has_more).toBe(true);
    const next = await batches().list({ limit: 1, after_id: ids[1] ?? '' });
    expect(next.data.map(({ id }) => id)).toEqual(ids.slice(2));
    const before = await batches().list({ limit: 1, before_id: ids[2] ?? '' });
    expect(before.data.map(({ id }) => id)).toEqual(ids.slice(1, 2));
    for (const param of ['after_id', 'before_id'])
      expect(await stateful.call('GET', `/messages/batches?${param}=none`)).toMatchObject({
        status: 400,
        json: { error: { message: `${param}: batch 'none' not found` } },
      });
    const [id = ''] = ids;
    await ended(id);
    expect(await statusOf(stranger.messages.batches.retrieve(id))).toBe(404);
    expect(await batches().delete(id)).toEqual(
      expect.objectContaining({ id, type: 'message_batch_deleted' }),
    );
    expect(await statusOf(batches().retrieve(id))).toBe(404);
  });

  test('is refused for an invalid body, and for too many requests', async () => {
    const requests = Array.from({ length: 51 }, (_, line) => request(`r${line}`));
    expect(await statusOf(batches().create({ requests }))).toBe(413);
    const bodies = ['{"requests":[{}', '[]', '{"requests":{}}', '{"requests":[1],"requests":[2]}', 'x'];
    for (const body of bodies) {
      const { status, json } = await stateful.call('POST', '/messages/batches', body);
      expect([body, status]).toEqual([body, 400]);
      expect(json).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    }
  });

  test('names each request whose text is refused, so that its client finds the result', async () => {
    const nested = JSON.stringify({ custom_id: 'nested', params: { system: 0 } }).replace(
      '0',
      '['.repeat(200) + ']'.repeat(200),
    );
    const half = JSON.stringify(request('half', { system: '?' })).replace('?', '\\ud800');
    const body = `{"requests":[${JSON.stringify(request('good'))},${nested},${half}]}`;
    const { status, json } = await stateful.call('POST', '/messages/batches', body);
    expect(status).toBe(200);
    const { id } = json as { id: string };
    await ended(id);
    expect((await resultsOf(id)).map(({ custom_id, result }) => [custom_id, result.type])).toEqual([
      ['good', 'succeeded'],
      ['nested', 'errored'],
      ['half', 'errored'],
    ]);
  });

  test.each([
    ['{}', 'requests: is required, and must be an array'],
    ['{"requests":[]}', 'requests: must contain at least one request'],
    [
      JSON.stringify({ requests: [request('a'), { params: {} }] }),
      'requests[1].custom_id: must be 1 to 64 letters, digits, hyphens and underscores',
    ],
    [
      JSON.stringify({ requests: [request('a b')] }),
      'requests[0].custom_id: must be 1 to 64 letters, digits, hyphens and underscores',
    ],
    [
      JSON.stringify({ requests: [request('a'), request('b'), request('a')] }),
      'requests[2].custom_id: another request has the id a; make it unique',
    ],
  ])('reports the error of %s when it is created', async (body, message) => {
    const { status, json } = await stateful.call('POST', '/messages/batches', body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ type: 'error', error: { type: 'invalid_request_error', message } });
  });
});
