// OpenAI's batches through the official SDK: many requests in one file, any model in each line.
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import type { Batch } from 'openai/resources/batches';
import { TEST_KEY } from '../../support/harness.ts';
import { startStateful } from '../../support/storage/state-seed.ts';
import { eventuallyFound } from '../../support/program.ts';

const stateful = await startStateful({ batches: { max_delay_ms: 0 } });
const client = stateful.client;
afterAll(() => stateful.close());

const ENDS = ['completed', 'failed', 'expired', 'cancelled'];

interface Line {
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: Record<string, unknown>;
  } | null;
  readonly error: { readonly code: string; readonly message: string; readonly line?: number } | null;
}

async function upload(lines: readonly unknown[], of = client): Promise<string> {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const file = await of.files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' });
  expect(file).toMatchObject({ purpose: 'batch', bytes: Buffer.byteLength(text) });
  return file.id;
}

const ended = (id: string, of = client): Promise<Batch> =>
  eventuallyFound(
    'the batch ends',
    () => of.batches.retrieve(id),
    ({ status }) => ENDS.includes(status),
  );

async function linesOf(id: string | null | undefined, of = client): Promise<Line[]> {
  if (!id) return [];
  const text = await (await of.files.content(id)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

async function made(
  input_file_id: string,
  endpoint: Batch['endpoint'] = '/v1/chat/completions',
  of = client,
): Promise<string> {
  const asked = { input_file_id, endpoint, completion_window: '24h' } as const;
  return (await of.batches.create(asked as Parameters<OpenAI['batches']['create']>[0])).id;
}

/** Status of a refused request. */
async function statusOf(asked: PromiseLike<unknown>): Promise<number | undefined> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error.status;
  }
  return undefined;
}

function chat(id: string, over: object = {}): object {
  const body = { model: 'sim/chat', messages: [{ role: 'user', content: `This is ${id}.` }], ...over };
  return { custom_id: id, method: 'POST', url: '/v1/chat/completions', body };
}

describe('a batch', () => {
  test('answers every line, by any model', async () => {
    const models = ['sim/chat', 'sim/messages', 'sim/gemini'];
    const file = await upload(models.map((model) => chat(model, { model })));
    const made = await client.batches.create({
      input_file_id: file,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      metadata: { topic: 'demo' },
    });
    expect(made).toMatchObject({
      object: 'batch',
      status: 'validating',
      input_file_id: file,
      metadata: { topic: 'demo' },
    });
    const batch = await ended(made.id);
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 3, completed: 3, failed: 0 },
      error_file_id: null,
      errors: null,
    });
    const lines = await linesOf(batch.output_file_id);
    expect(lines.map((line) => line.custom_id)).toEqual(models);
    for (const { response, error } of lines) {
      expect(error).toBeNull();
      expect(response).toMatchObject({ status_code: 200, body: { object: 'chat.completion' } });
    }
  });
});

describe('lines', () => {
  test('that cannot be run are named with their numbers, and the others run', async () => {
    const file = await upload([
      chat('good'),
      chat('streamed', { stream: true }),
      chat('good'),
      { ...(chat('elsewhere') as object), url: '/v1/responses' },
      chat('unknown', { model: 'nobody/knows' }),
      '{"custom_id": "broken", ',
      '',
      { method: 'POST', url: '/v1/chat/completions', body: {} },
      chat('wrong', { temperature: 'hot' }),
      chat('last'),
    ]);
    const batch = await ended(await made(file));
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 9, completed: 2, failed: 7 },
    });
    const reported = batch.errors?.data?.map(({ line, code, param }) => [line, code, param]);
    expect(reported).toEqual<unknown>([
      [2, 'invalid_request', 'stream'],
      [3, 'duplicate_custom_id', 'custom_id'],
      [4, 'invalid_request', 'url'],
      [5, 'model_not_found', 'model'],
      [6, 'invalid_json_line', null],
      [8, 'invalid_request', 'custom_id'],
      [9, 'invalid_request', 'temperature'],
    ]);
    const answered = await linesOf(batch.output_file_id);
    expect(answered.map((line) => line.custom_id)).toEqual(['good', 'last']);
    const failed = await linesOf(batch.error_file_id);
    expect(failed.map(({ custom_id, error }) => [custom_id, error?.line])).toEqual<unknown>([
      ['streamed', 2],
      ['good', 3],
      ['elsewhere', 4],
      ['unknown', 5],
      [null, 6],
      [null, 8],
      ['wrong', 9],
    ]);
  });

  test('none of which can be run fail their batch', async () => {
    const batch = await ended(await made(await upload([chat('a', { stream: true })])));
    expect(batch).toMatchObject({
      status: 'failed',
      output_file_id: null,
      request_counts: { total: 1, completed: 0, failed: 1 },
    });
    expect(batch.errors?.data).toMatchObject([{ line: 1, param: 'stream' }]);
    const empty = await ended(await made(await upload(['\n \n'])));
    expect(empty).toMatchObject({ status: 'failed', errors: { data: [{ code: 'empty_file' }] } });
  });

  test('may ask for responses and for vectors', async () => {
    const url = '/v1/responses';
    const asked = ['sim/chat', 'sim/responses'].map((model) => ({
      custom_id: model,
      method: 'POST',
      url,
      body: { model, input: 'Hello' },
    }));
    const batch = await ended(await made(await upload(asked), url));
    for (const { response } of await linesOf(batch.output_file_id))
      expect(response).toMatchObject({ status_code: 200, body: { object: 'response', status: 'completed' } });
    const embeddings = '/v1/embeddings';
    const body = { model: 'sim/embed', input: ['one', 'two'] };
    const line = { custom_id: 'v', method: 'POST', url: embeddings, body };
    const vectors = await ended(await made(await upload([line]), embeddings));
    const [answer] = await linesOf(vectors.output_file_id);
    expect(answer?.response?.body['data']).toHaveLength(2);
    expect(vectors.usage?.input_tokens).toBeGreaterThan(0);
  });

  test('have records and costs as other requests', async () => {
    const batch = await ended(await made(await upload([chat('a'), chat('b')])));
    const lines = await linesOf(batch.output_file_id);
    for (const { response } of lines) {
      const { json } = await stateful.call('GET', `/generation?id=${response?.request_id}`);
      expect(json['data'] ?? json).toMatchObject({ id: response?.request_id, api: 'chat.completions' });
    }
    const usage = lines.map(
      ({ response }) => (response?.body['usage'] as { total_tokens: number } | undefined)?.total_tokens ?? 0,
    );
    expect(batch.usage?.total_tokens).toBe(usage.reduce((sum, tokens) => sum + tokens, 0));
  });
});

describe('a request for a batch', () => {
  test('is refused with the name of the member', async () => {
    const input_file_id = await upload([chat('a')]);
    const good = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' };
    const refused = async (over: object): Promise<unknown> => {
      const { status, json } = await stateful.call('POST', '/batches', { ...good, ...over });
      return [status, (json['error'] as { param?: string } | undefined)?.param];
    };
    expect(await refused({ endpoint: '/v1/audio/speech' })).toEqual([400, 'endpoint']);
    expect(await refused({ completion_window: '8d' })).toEqual([400, 'completion_window']);
    expect(await refused({ completion_window: '30m' })).toEqual([400, 'completion_window']);
    expect(await refused({ input_file_id: 'file-none' })).toEqual([404, 'input_file_id']);
    const other = await client.files.create({
      file: await toFile(Buffer.from('x'), 'x'),
      purpose: 'user_data',
    });
    expect(await refused({ input_file_id: other.id })).toEqual([400, 'input_file_id']);
    expect(await refused({ output_expires_after: { anchor: 'created_at', seconds: 5 } })).toEqual([
      400,
      'output_expires_after.seconds',
    ]);
  });

  test('creates a batch that only its key can read, and that is listed', async () => {
    const id = await made(await upload([chat('a')]));
    await ended(id);
    expect((await client.batches.list({ limit: 1 })).data.map((batch) => batch.id)).toEqual([id]);
    const all: string[] = [];
    for await (const batch of client.batches.list({ limit: 2 })) all.push(batch.id);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(3);
    const { stranger } = stateful;
    expect((await stranger.batches.list()).data).toEqual([]);
    expect(await statusOf(stranger.batches.retrieve(id))).toBe(404);
    expect(await statusOf(stranger.batches.cancel(id))).toBe(404);
    expect(await statusOf(client.batches.cancel(id))).toBe(409);
  });
});

describe('a batch that does not run to its end', () => {
  /** An upstream that answers when it is told to. */
  let release: () => void = () => {};
  let asked = 0;
  let isFailing = false;
  const upstream = Bun.serve({
    port: 0,
    async fetch() {
      asked += 1;
      if (isFailing) return Response.json({ error: { message: 'away' } }, { status: 503 });
      if (asked > 2) await new Promise<void>((resolve) => (release = resolve));
      const message = { role: 'assistant', content: 'Hi' };
      const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
    },
  });
  afterAll(() => upstream.stop(true));

  const config = (over: object = {}): Record<string, unknown> => ({
    providers: { up: { api_key: 'x', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } } },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price: { input: 1, output: 1 } }] }],
    batches: { max_delay_ms: 0, concurrent: 1, ...over },
  });
  const four = ['a', 'b', 'c', 'd'].map((id) => chat(id, { model: 'up/m', max_tokens: 1 }));

  const until = (of: OpenAI, id: string, is: (batch: Batch) => boolean): Promise<Batch> =>
    eventuallyFound('the batch comes so far', () => of.batches.retrieve(id), is);

  async function started(over: object, rest: object = {}) {
    asked = 0;
    isFailing = false;
    const own = await startStateful({ ...config(over), ...rest });
    const file = await upload(four, own.client);
    const id = await made(file, '/v1/chat/completions', own.client);
    return { own, id, file };
  }

  test('is cancelled, and finished results are delivered', async () => {
    const { own, id, file } = await started({});
    await until(own.client, id, ({ request_counts }) => request_counts?.completed === 2 && asked === 3);
    expect(await statusOf(own.client.files.delete(file))).toBe(409);
    const cancelling = await own.client.batches.cancel(id);
    expect(cancelling.status).toBe('cancelling');
    release();
    const batch = await ended(id, own.client);
    expect(batch).toMatchObject({
      status: 'cancelled',
      request_counts: { total: 4, completed: 3, failed: 1 },
    });
    const answered = await linesOf(batch.output_file_id, own.client);
    expect(answered.map((line) => line.custom_id)).toEqual(['a', 'b', 'c']);
    const [left] = await linesOf(batch.error_file_id, own.client);
    expect(left).toMatchObject({ custom_id: 'd', error: { code: 'batch_cancelled' } });
    await own.client.files.delete(file);
    await own.close();
  });

  test('waits for a budget, reports why and since when, and continues', async () => {
    const { own, id } = await started(
      {},
      { keys: [{ name: 'test', key: TEST_KEY, budgets: [{ usd: 1.5, per: 'day' }] }] },
    );
    const batch = await until(own.client, id, (found) => 'waiting' in found);
    expect(batch).toMatchObject({
      status: 'in_progress',
      request_counts: { completed: 2 },
      cost: 2,
      waiting: { reason: expect.stringContaining('$1.50 per day'), since: expect.any(Number) },
    });
    await own.client.batches.cancel(id);
    expect(await ended(id, own.client)).toMatchObject({
      status: 'cancelled',
      request_counts: { completed: 2, failed: 2 },
    });
    await own.close();
  });

  test('fails a line that can never pass its limits, and runs the others', async () => {
    asked = 0;
    isFailing = false;
    const priced = config();
    await using own = await startStateful({
      ...priced,
      models: [
        ...(priced['models'] as object[]),
        { id: 'up/new', endpoints: [{ provider: 'up', model: 'n' }] },
      ],
      keys: [{ name: 'test', key: TEST_KEY, budgets: [{ usd: 50, per: 'day' }] }],
    });
    const lines = [
      chat('unpriced', { model: 'up/new', max_tokens: 1 }),
      chat('too large', { model: 'up/m', max_tokens: 60_000_000 }),
      chat('priced', { model: 'up/m', max_tokens: 1 }),
    ];
    const id = await made(await upload(lines, own.client), '/v1/chat/completions', own.client);
    const batch = await ended(id, own.client);
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 1, failed: 2 } });
    const failed = JSON.stringify(await linesOf(batch.error_file_id, own.client));
    expect(failed).toContain('The price of up/new is unknown');
    expect(failed).toContain('This request exceeds the whole limit');
  });

  test('ends with its budget if it is configured so', async () => {
    const budgets = [{ usd: 1.5, per: 'day' }];
    const { own, id } = await started(
      { on_budget: 'end' },
      { keys: [{ name: 'test', key: TEST_KEY, budgets }] },
    );
    const batch = await ended(id, own.client);
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 2, failed: 2 } });
    const lines = await linesOf(batch.error_file_id, own.client);
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(['c', 'd']);
    expect(JSON.stringify(lines)).toContain('budget_exceeded');
    await own.close();
  });
});
