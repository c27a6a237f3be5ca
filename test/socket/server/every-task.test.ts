// Every task and every protocol whose clients ask for it: limits, budgets, idempotency keys, records, payloads, replays, metrics
// and explanations hold for all of them. A task that is added is asked for by the example of its own description.
import { afterAll, describe, expect, test } from 'bun:test';
import { findTask, postRoutes, type Task, TASKS, text } from '../../../src/engine/index.ts';
import { servedProtocols } from '../../../src/protocols/index.ts';
import { operationAt } from '../../../src/server/client-routes.ts';
import { startGateway } from '../../support/harness.ts';

const ADMIN_KEY = 'sk-admin-0123456789';

/** One way to ask for a task. */
interface Way {
  readonly task: Task;
  /** Name of the operation in the records. */
  readonly api: string;
  /** As clients write it. */
  readonly path: string;
  readonly body: object;
  /** As `/route/explain` takes it. */
  readonly explained: string;
}

function waysOf(protocol: (typeof servedProtocols)[number]): readonly Way[] {
  return postRoutes(protocol).flatMap((route) => {
    if (route.isWhole && route.path !== '/v1beta/*') return [];
    const described = route.describes();
    const all = Array.isArray(described) ? described : [{ ...described, path: `/v1${route.path}` }];
    return all.flatMap(({ path, params, bodyExample }): readonly Way[] => {
      const model = params?.model?.example;
      const whole = path.replace('{model}', model ?? '');
      const query = new URLSearchParams();
      const operation = operationAt(route, { path: decodeURIComponent(whole), query });
      const task = operation?.does === 'answer' ? text : findTask(operation?.does);
      if (!operation || !task?.isRecorded || typeof bodyExample !== 'object' || bodyExample === null)
        return [];
      const search = new URLSearchParams({ protocol: task === text ? protocol.name : task.name });
      const isNamed = model !== undefined;
      if (isNamed) search.set('model', decodeURIComponent(model));
      // A task besides text is explained by the body of one protocol alone.
      const canExplain = task === text || !isNamed;
      return [
        {
          task,
          api: operation.api,
          path: whole,
          body: bodyExample,
          explained: canExplain ? `${search}` : '',
        },
      ];
    });
  });
}

const WAYS = servedProtocols.flatMap(waysOf);

const gateway = await startGateway({
  server: { admin_key: ADMIN_KEY },
  logging: { level: 'silent', content: 'all' },
  keys: [
    { name: 'free', key: 'sk-free' },
    ...WAYS.map((_, index) => ({
      name: `limited-${index}`,
      key: `sk-limited-${index}`,
      limits: [{ requests: 1, per: 'day' }],
    })),
    ...WAYS.map((_, index) => ({
      name: `poor-${index}`,
      key: `sk-poor-${index}`,
      budgets: [{ usd: 1e-9, per: 'day' }],
    })),
  ],
});
afterAll(() => gateway.close());

function post({ path, body }: Pick<Way, 'path' | 'body'>, key: string, more = {}): Promise<Response> {
  return fetch(gateway.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more },
    body: JSON.stringify(body),
  });
}

function get(path: string, key: string): Promise<Response> {
  return fetch(gateway.origin + path, { headers: { authorization: `Bearer ${key}` } });
}

test('each task has a way', () => {
  expect(new Set(WAYS.map(({ task }) => task.name))).toEqual(
    new Set(TASKS.filter(({ isRecorded }) => isRecorded).map(({ name }) => name)),
  );
  expect(WAYS.length).toBeGreaterThan(5);
});

describe.each(WAYS.map((way, index) => [way.path, way, index] as const))('%s', (_, way, index) => {
  test('is recorded with its cost and its payloads, and sent again', async () => {
    const answer = await post(way, 'sk-free');
    expect(answer.status).toBe(200);
    await answer.text();
    const id = answer.headers.get('x-request-id') ?? '';
    const record = await (await get(`/v1/generation?id=${id}`, 'sk-free')).json();
    expect(record).toMatchObject({ api: way.api, status: 200, attempts: [{ provider: 'sim' }] });
    expect((record as { usage: number }).usage).toBeGreaterThan(0);
    const { data } = (await (await get(`/v1/management/generations/${id}/payloads`, ADMIN_KEY)).json()) as {
      data: { stage: string }[];
    };
    expect(data.map(({ stage }) => stage)).toEqual(
      expect.arrayContaining(['client_request', 'client_response']),
    );
    const again = await post({ path: `/v1/management/generations/${id}/replay`, body: {} }, ADMIN_KEY);
    expect(again.status).toBe(200);
  });

  test('is counted by limits and budgets', async () => {
    expect((await post(way, `sk-limited-${index}`)).status).toBe(200);
    expect((await post(way, `sk-limited-${index}`)).status).toBe(429);
    // Google's clients know one status for both.
    const poor = await post(way, `sk-poor-${index}`);
    expect([402, 429]).toContain(poor.status);
    expect(await poor.text()).toContain('$0.000000001 per day');
  });

  test('is answered once under an idempotency key', async () => {
    const key = { 'idempotency-key': `every-${index}` };
    const first = await post(way, 'sk-free', key);
    const second = await post(way, 'sk-free', key);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'));
  });

  test('has a metric, and a route that is explained', async () => {
    const metrics = await (await get('/metrics', ADMIN_KEY)).text();
    const name = 'gen_ai_server_request_duration_seconds_count';
    expect(metrics).toContain(`${name}{api="${way.api}"`);
    if (way.explained === '') return;
    const table = await post({ path: `/v1/route/explain?${way.explained}`, body: way.body }, 'sk-free');
    expect(await table.json()).toMatchObject({ candidates: [{ provider: 'sim' }] });
  });
});
