// Lines of batches at their vendors' own batch APIs: submitted once, collected, charged once and at the lower price.
import { afterEach, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { TEST_KEY } from '../../support/harness.ts';
import { startStateful } from '../../support/storage/state-seed.ts';
import {
  begin,
  ended,
  isSubmission,
  line,
  recordsOf,
  resultsOf,
  startVendorGateway,
  submissions,
  until,
  type VendorGateway,
} from './vendor-gateway.ts';
import { eventuallyFound } from '../../support/program.ts';

const ENDS = ['completed', 'failed', 'expired', 'cancelled'];
let running: VendorGateway | undefined;
afterEach(() => running?.close());

async function start(...input: Parameters<typeof startVendorGateway>): Promise<VendorGateway> {
  return (running = await startVendorGateway(...input));
}

describe("lines at their vendors' batch APIs", () => {
  test('are answered by one batch of each endpoint, at its price, and others as usual', async () => {
    const { vendor: at, gateway, client } = await start({}, 60_000);
    const id = await begin(client, [
      line('a', 'up/chat'),
      line('b', 'claude/messages'),
      line('c', 'sim/gemini'),
      line('d', 'up/chat'),
      line('e', 'google/gemini'),
    ]);
    const waiting = await until(client, id, (batch) => 'waiting' in batch || ENDS.includes(batch.status));
    expect(waiting).toMatchObject({
      waiting: { reason: expect.stringContaining('lines were submitted to batches of') },
    });
    at.pass(60_000);
    const batch = await ended(client, id);
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 5, completed: 5, failed: 0 },
    });
    const results = await resultsOf(client, batch.output_file_id);
    expect(results.map(({ custom_id }) => custom_id)).toEqual(['a', 'b', 'c', 'd', 'e']);
    for (const { response } of results)
      expect(response).toMatchObject({ status_code: 200, body: { object: 'chat.completion' } });
    expect(submissions(at).toSorted()).toEqual([
      'POST /batches',
      'POST /models/gemini:batchGenerateContent',
      'POST /v1/messages/batches',
    ]);
    expect(at.asked).not.toContain('POST /chat/completions');
    expect(at.asked).not.toContain('POST /v1/messages');
    expect(at.asked).not.toContain('POST /models/gemini:generateContent');
    const records = await recordsOf(gateway);
    const costs = results.map(({ response }) => {
      const record = records.find(({ id: recordId }) => recordId === response?.request_id);
      return {
        provider: record?.provider,
        usd: record?.cost?.usd,
        usage: record?.usage,
      };
    });
    const usdOf = ({ usage }: (typeof costs)[number], input: number, output: number): number =>
      ((usage?.input.uncached ?? NaN) * input +
        ((usage?.output.text ?? NaN) + (usage?.output.reasoning ?? NaN)) * output) /
      1e6;
    expect(costs.map(({ provider }) => provider)).toEqual(['up', 'claude', 'sim', 'up', 'google']);
    for (const at of [0, 3, 4]) expect(costs[at]?.usd).toBeCloseTo(usdOf(costs[at] as never, 0.5, 2), 12);
    expect(costs[1]?.usd).toBeCloseTo(usdOf(costs[1] as never, 0.1, 0.2), 12);
    expect(records).toHaveLength(5);
  });

  test('are asked as usual where their vendor has batches of answers alone', async () => {
    const { vendor: at, client } = await start();
    at.intercept = async (request) =>
      request.url.endsWith(':batchEmbedContents')
        ? Response.json({ embeddings: [{ values: [1, 0] }] })
        : undefined;
    const body = { model: 'google/embed', input: 'one' };
    const lines = [{ custom_id: 'v', method: 'POST', url: '/v1/embeddings', body }];
    const batch = await ended(client, await begin(client, lines, '/v1/embeddings'));
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 1 } });
    expect(at.asked).toEqual(['POST /models/embed:batchEmbedContents']);
  });

  test('fill as many batches as their vendor’s byte limit requires, and long results are read as they arrive', async () => {
    const { vendor: at, client } = await start();
    const filled = 'x'.repeat(7_000_000);
    const large = ['a', 'b', 'c'].map((id) =>
      line(id, 'google/gemini', { messages: [{ role: 'user', content: filled }] }),
    );
    const many = Array.from({ length: 400 }, (_, index) => line(`l${index}`, 'google/gemini'));
    const first = await ended(client, await begin(client, large));
    expect(first.request_counts).toEqual({ total: 3, completed: 3, failed: 0 });
    expect(submissions(at)).toHaveLength(2);
    const second = await ended(client, await begin(client, many));
    expect(second.request_counts).toEqual({ total: 400, completed: 400, failed: 0 });
    expect(submissions(at)).toHaveLength(3);
  });

  test('may ask for vectors and in other protocols', async () => {
    const { vendor: at, gateway, client } = await start();
    const texts = ['one', 'two'];
    const vectors = texts.map((input) => {
      const body = { model: 'up/embed', input };
      return { custom_id: input, method: 'POST', url: '/v1/embeddings', body };
    });
    const batch = await ended(client, await begin(client, vectors, '/v1/embeddings'));
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 2 } });
    for (const { response } of await resultsOf(client, batch.output_file_id))
      expect(response).toMatchObject({ body: { object: 'list', data: [{ object: 'embedding' }] } });
    const asked = { model: 'answers/responses', input: 'What is 6 x 7?' };
    const answers = [{ custom_id: 'r', method: 'POST', url: '/v1/responses', body: asked }];
    const other = await ended(client, await begin(client, [...answers], '/v1/responses'));
    const [result] = await resultsOf(client, other.output_file_id);
    expect(result).toMatchObject({ response: { body: { object: 'response', status: 'completed' } } });
    expect(submissions(at)).toHaveLength(2);
    expect(at.asked.filter((each) => each === 'POST /embeddings' || each === 'POST /responses')).toEqual([]);
    expect((await recordsOf(gateway)).map(({ api }) => api)).toEqual([
      'embeddings',
      'embeddings',
      'responses',
    ]);
  });

  test('that fail or expire there end so', async () => {
    const { client } = await start();
    const models = [
      'up/chat',
      'up/stall-headers',
      'claude/stall-headers',
      'google/stall-headers',
      'up/error-400',
      'google/error-400',
    ];
    const batch = await ended(
      client,
      await begin(
        client,
        models.map((model) => line(model.replace('/', '-'), model)),
      ),
    );
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 6, completed: 1, failed: 5 },
    });
    const failed = await resultsOf(client, batch.error_file_id);
    expect(
      failed.map(({ custom_id, error, response }) => [custom_id, error?.code ?? response?.status_code]),
    ).toEqual([
      ['up-stall-headers', 'batch_expired'],
      ['claude-stall-headers', 'batch_expired'],
      ['google-stall-headers', 'batch_expired'],
      ['up-error-400', 400],
      ['google-error-400', 400],
    ]);
  });

  test('that fail or expire there are sent again if configured', async () => {
    const { vendor: at, gateway, client } = await start({ vendor_retry: true });
    // A request that is sent by itself is answered.
    at.intercept = async (request) => {
      if (!new URL(request.url).pathname.endsWith('/chat/completions')) return undefined;
      const message = { role: 'assistant', content: 'At last.' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
      return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
    };
    const id = await begin(client, [
      line('a', 'up/chat'),
      line('b', 'up/stall-headers'),
      line('c', 'up/error-400'),
    ]);
    const batch = await ended(client, id);
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 3, completed: 3, failed: 0 },
    });
    const results = await resultsOf(client, batch.output_file_id);
    const records = await recordsOf(gateway);
    const retried = results
      .slice(1)
      .map(({ response }) => records.find(({ id: of }) => of === response?.request_id));
    for (const record of retried) expect(record?.cost?.usd).toBeCloseTo((5 * 1 + 5 * 4) / 1e6, 12);
    expect(at.asked.filter((each) => each === 'POST /chat/completions')).toHaveLength(2);
    expect(submissions(at)).toHaveLength(3);
  });

  test('whose submission gets no response are looked up, and not submitted again', async () => {
    for (const model of ['up/chat', 'claude/messages', 'google/gemini']) {
      const { vendor: at, client } = await start();
      let isCut = false;
      at.intercept = async (request, forward) => {
        if (!isSubmission(`${request.method} ${request.url}`) || isCut) return undefined;
        isCut = true;
        await forward();
        return new Response('gone', { status: 502 });
      };
      const batch = await ended(client, await begin(client, [line('a', model), line('b', model)]));
      expect([model, batch.request_counts?.completed]).toEqual([model, 2]);
      expect(submissions(at)).toHaveLength(1);
      await running?.close();
    }
  });

  test('whose submission never arrived are submitted again when that is certain', async () => {
    const { vendor: at, client, ahead } = await start();
    let lost = 0;
    at.intercept = async (request) => {
      if (!request.url.endsWith('/v1/batches') || request.method !== 'POST' || lost > 0) return undefined;
      lost += 1;
      return new Response('gone', { status: 502 });
    };
    const id = await begin(client, [line('a', 'up/chat')]);
    await until(client, id, () => at.asked.filter((each) => each === 'GET /batches').length > 2);
    expect(submissions(at)).toHaveLength(1);
    ahead(61_000);
    const batch = await ended(client, id);
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 1 } });
    expect(submissions(at)).toHaveLength(2);
  });

  test('that their vendor refuses are asked as other requests', async () => {
    const { vendor: at, client } = await start();
    at.intercept = async (request) =>
      request.url.endsWith('/openai/v1/files')
        ? Response.json({ error: { message: 'no' } }, { status: 403 })
        : undefined;
    const batch = await ended(client, await begin(client, [line('a', 'up/chat')]));
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 1 } });
    expect(at.asked.filter((each) => each === 'POST /chat/completions')).toHaveLength(1);
    expect(submissions(at)).toEqual([]);
  });

  test.each(['up/chat', 'google/gemini'])(
    'are cancelled there with their batch, and finished ones are delivered and charged: %s',
    async (model) => {
      const { vendor: at, gateway, client } = await start({}, 60_000);
      const lines = Array.from({ length: 40 }, (_, index) => line(`l${index}`, model));
      const id = await begin(client, lines);
      await until(client, id, () => at.asked.some((each) => each.startsWith('GET /batches/')));
      // The vendor has done a part by the time of its answer.
      at.intercept = async (request, forward) => {
        if (!/[/:]cancel$/.test(request.url)) return undefined;
        at.pass(1_700);
        return forward();
      };
      await client.batches.cancel(id);
      const batch = await ended(client, id);
      expect(batch.status).toBe('cancelled');
      const { completed = 0, failed = 0, total } = batch.request_counts ?? {};
      expect([total, completed + failed]).toEqual([40, 40]);
      expect(completed).toBeGreaterThan(0);
      expect(at.asked.some((each) => /[/:]cancel$/.test(each))).toBe(true);
      expect((await resultsOf(client, batch.output_file_id)).length).toBe(completed);
      expect(
        (await resultsOf(client, batch.error_file_id)).every(
          ({ error }) => error?.code === 'batch_cancelled',
        ),
      ).toBe(true);
      expect(await recordsOf(gateway)).toHaveLength(completed);
    },
  );

  test('of other clients go there too, unless their own headers would be lost', async () => {
    const { vendor: at, gateway } = await start();
    const requests = ['a', 'b'].map((custom_id) => {
      const messages = [{ role: 'user', content: `This is ${custom_id}.` }];
      return { custom_id, params: { model: 'claude/messages', max_tokens: 50, messages } };
    });
    for (const beta of [undefined, 'some-feature-2026-01-01']) {
      const headers = { 'x-api-key': 'sk-test', ...(beta !== undefined && { 'anthropic-beta': beta }) };
      const ask = async (path = '', init: RequestInit = {}): Promise<Record<string, unknown>> => {
        const url = `${gateway.gateway.baseURL}/messages/batches${path}`;
        return (await (await fetch(url, { ...init, headers })).json()) as Record<string, unknown>;
      };
      const { id } = await ask('', { method: 'POST', body: JSON.stringify({ requests }) });
      const batch = await eventuallyFound(
        'the batch ends',
        () => ask(`/${String(id)}`),
        (found) => found['processing_status'] === 'ended',
      );
      expect(batch).toMatchObject({ request_counts: { succeeded: 2 } });
    }
    expect(submissions(at)).toEqual(['POST /v1/messages/batches']);
    expect(at.asked.filter((each) => each === 'POST /v1/messages')).toHaveLength(2);
  });

  test('are charged and delivered though the budget is spent by them', async () => {
    // Each line fits by itself, and all together do not.
    const keys = [{ name: 'test', key: TEST_KEY, budgets: [{ usd: 0.0003, per: 'day' }] }];
    const { gateway, client } = await start({}, 100, { keys });
    const lines = Array.from({ length: 8 }, (_, index) => line(`l${index}`, 'up/chat'));
    const batch = await ended(client, await begin(client, lines));
    expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 8, completed: 8 } });
    const records = await recordsOf(gateway);
    expect(records).toHaveLength(8);
    const spent = records.reduce((sum, { cost }) => sum + (cost?.usd ?? NaN), 0);
    expect(spent).toBeGreaterThan(0.0003);
    const { status } = await gateway.call('POST', '/chat/completions', {
      model: 'up/chat',
      messages: [{ role: 'user', content: 'One more?' }],
    });
    expect(status).toBe(402);
  });

  test('of a revoked key are cancelled there; finished ones are delivered and charged', async () => {
    const admin = 'sk-admin-test-0123456789';
    const keys = [
      { name: 'test', key: TEST_KEY, project: 'p' },
      { name: 'admin', key: admin, roles: ['admin'] },
    ];
    const { vendor: at, gateway, client } = await start({}, 1_500, { keys, projects: { p: {} } });
    const manage = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
      const response = await fetch(`${gateway.gateway.baseURL}/management/keys${path}`, {
        method,
        headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.status === 204 ? {} : ((await response.json()) as Record<string, unknown>);
    };
    const made = await manage('POST', '', { name: 'short', project: 'p' });
    const own = new OpenAI({ apiKey: String(made['key']), baseURL: gateway.gateway.baseURL, maxRetries: 0 });
    const id = await begin(own, [line('a', 'up/chat'), line('b', 'up/chat')]);
    await until(client, id, () => at.asked.some((each) => each.startsWith('GET /batches/')));
    // Its vendor has finished by the time that somebody looks again.
    at.intercept = async (request, forward) => {
      if (new URL(request.url).pathname.endsWith('/cancel')) return undefined;
      at.pass(1_600);
      return forward();
    };
    await manage('DELETE', `/${String(made['id'])}`);
    const batch = await ended(client, id);
    expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 2 } });
    expect(await recordsOf(gateway)).toHaveLength(2);
  });

  test('need a batch API', async () => {
    const other = {
      api_key: 'sk-test',
      protocols: { 'gemini-interactions': 'http://127.0.0.1:1/v1beta' },
    };
    const endpoints = [{ provider: 'g', batch: 'vendor' }];
    const wrong: [config: object, path: string][] = [
      [{ providers: { g: { ...other, batch: 'vendor' } } }, 'providers.g.batch'],
      [{ providers: { g: other }, models: [{ id: 'g/m', endpoints }] }, 'models[0].endpoints[0].batch'],
    ];
    for (const [config, path] of wrong) {
      const started = startStateful(config as Readonly<Record<string, unknown>>);
      expect(await started.then(() => '', String)).toContain(path);
    }
  });

  test('go in groups of a bounded size', async () => {
    const { vendor: at, client } = await start({ vendor_max_lines: 7 });
    const lines = Array.from({ length: 30 }, (_, index) => line(`l${index}`, 'up/chat'));
    const batch = await ended(client, await begin(client, lines));
    expect(batch).toMatchObject({ request_counts: { total: 30, completed: 30 } });
    expect(submissions(at)).toHaveLength(5);
    const results = await resultsOf(client, batch.output_file_id);
    expect(results.map(({ custom_id }) => custom_id)).toEqual(lines.map((_, index) => `l${index}`));
  });
});
