// Metrics as Prometheus gets them: who may read them, what they count, and that what clients make up stays bounded.
import { expect, test } from 'bun:test';
import { METRICS, RequestMetrics } from '../../../src/operations/metrics/index.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { type MetricText, readMetrics, valueOf } from './metrics-text.ts';
import { eventually } from '../../support/program.ts';
import { finishedRequest } from '../../support/finished-request.ts';
import { startSlow } from '../../support/upstreams/slow-upstream.ts';
import { undoAfterEach } from '../../support/undo.ts';

const undo = undoAfterEach();

async function start(config: object = {}): Promise<TestGateway> {
  const gateway = await startGateway({ metrics: { listen: '127.0.0.1:0' }, ...config });
  undo.push(() => gateway.close());
  return gateway;
}

async function scrape({ metricsOrigin }: TestGateway): Promise<ReadonlyMap<string, MetricText>> {
  const answer = await fetch(`${metricsOrigin}/metrics`);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return readMetrics(await answer.text());
}

const chat = (model: string, rest: object = {}): object => ({
  model,
  messages: [{ role: 'user', content: 'hello' }],
  ...rest,
});

test('every metric has its name, its type, and exactly its labels', async () => {
  const gateway = await start();
  await (await gateway.post('/chat/completions', chat('sim/echo', { stream: true }))).text();
  const metrics = await scrape(gateway);
  expect([...metrics.keys()]).toEqual(Object.values(METRICS).map(({ name }) => name));
  for (const { name, type, help } of Object.values(METRICS))
    expect([name, metrics.get(name)?.type, metrics.get(name)?.help]).toEqual([name, type, help]);
});

test('requests are counted by operation, provider, model and status, with tokens, cost and times', async () => {
  const gateway = await start({
    models: [
      {
        id: 'mine/echo',
        endpoints: [{ provider: 'sim', model: 'echo', price: { input: 1000, output: 2000 } }],
      },
    ],
  });
  for (let count = 0; count < 3; count++)
    await (await gateway.post('/chat/completions', chat('mine/echo', { stream: count === 2 }))).text();
  await (await gateway.post('/messages', chat('sim/echo', { max_tokens: 50 }))).text();
  const metrics = await scrape(gateway);
  const labels = { api: 'chat.completions', gen_ai_provider_name: 'sim', gen_ai_request_model: 'mine/echo' };
  const of = (name: string, more: object = {}): number | undefined =>
    valueOf(metrics, name, { ...labels, ...more });
  expect(of('dragoman_requests_total', { http_response_status_code: '200' })).toBe(3);
  expect(of('gen_ai_server_request_duration_seconds_count', { gen_ai_operation_name: 'chat' })).toBe(3);
  expect(of('gen_ai_server_request_duration_seconds_bucket', { le: '+Inf' })).toBe(3);
  expect(of('gen_ai_server_time_to_first_token_seconds_count')).toBe(1);
  const input = of('dragoman_tokens_total', { gen_ai_token_type: 'input' }) ?? 0;
  const output = of('dragoman_tokens_total', { gen_ai_token_type: 'output' }) ?? 0;
  expect(input).toBeGreaterThan(0);
  const cost = (input * 1000 + output * 2000) / 1e6;
  expect(of('dragoman_cost_usd_total')).toBeCloseTo(cost, 9);
  expect(valueOf(metrics, 'dragoman_key_cost_usd_total', { key: 'test' })).toBeGreaterThanOrEqual(cost);
  expect(
    valueOf(metrics, 'dragoman_requests_total', { api: 'messages', http_response_status_code: '200' }),
  ).toBe(1);
});

test('failures, retries and failovers are counted for their endpoint', async () => {
  const gateway = await start({
    models: [
      {
        id: 'mine/model',
        endpoints: [
          { provider: 'sim', model: 'error-503' },
          { provider: 'sim', name: 'b', model: 'echo' },
        ],
      },
    ],
    routing: { retries: 1 },
  });
  expect((await gateway.post('/chat/completions', chat('mine/model'))).status).toBe(200);
  expect((await gateway.post('/chat/completions', chat('no/such'))).status).toBe(404);
  const metrics = await scrape(gateway);
  const model = { gen_ai_request_model: 'mine/model' };
  expect(valueOf(metrics, 'dragoman_attempts_total', { ...model, outcome: 'failed' })).toBe(2);
  expect(valueOf(metrics, 'dragoman_attempts_total', { ...model, outcome: 'completed' })).toBe(1);
  expect(
    valueOf(metrics, 'dragoman_attempt_errors_total', { ...model, error_type: 'upstream_unavailable' }),
  ).toBe(2);
  expect(valueOf(metrics, 'dragoman_retries_total', model)).toBe(1);
  expect(valueOf(metrics, 'dragoman_failovers_total', model)).toBe(1);
  const nobody = { gen_ai_request_model: 'other', gen_ai_provider_name: 'none' };
  expect(valueOf(metrics, 'dragoman_request_errors_total', { ...nobody, error_type: 'not_found' })).toBe(1);
});

test('an open breaker is seen', async () => {
  const gateway = await start({
    models: [{ id: 'mine/bad', endpoints: [{ provider: 'sim', model: 'error-503' }] }],
    routing: { retries: 0 },
  });
  for (let count = 0; count < 6; count++)
    await (await gateway.post('/chat/completions', chat('mine/bad'))).text();
  const metrics = await scrape(gateway);
  const at = { gen_ai_request_model: 'mine/bad', endpoint: 'sim' };
  expect(valueOf(metrics, 'dragoman_endpoint_state', { ...at, state: 'open' })).toBe(1);
  expect(valueOf(metrics, 'dragoman_endpoint_state', { ...at, state: 'closed' })).toBe(0);
});

test('the used share of limits is exported, and their refusals are counted', async () => {
  const gateway = await start({
    projects: { search: { limits: [{ requests: 2, per: 'hour' }], budgets: [{ usd: 1, per: 'day' }] } },
    keys: [{ name: 'test', key: 'sk-test', project: 'search', limits: [{ requests: 100, per: 'hour' }] }],
  });
  const statuses: number[] = [];
  for (let count = 0; count < 3; count++)
    statuses.push((await gateway.post('/chat/completions', chat('sim/echo'))).status);
  expect(statuses).toEqual([200, 200, 429]);
  const metrics = await scrape(gateway);
  const owner = { owner_type: 'project', owner: 'search' };
  expect(valueOf(metrics, 'dragoman_limit_used_ratio', { ...owner, limit: '2 requests per hour' })).toBe(1);
  expect(valueOf(metrics, 'dragoman_limit_used_ratio', { ...owner, limit: '$1.00 per day' })).toBeCloseTo(
    valueOf(metrics, 'dragoman_cost_usd_total', { gen_ai_provider_name: 'sim' }) ?? NaN,
    9,
  );
  expect(valueOf(metrics, 'dragoman_limit_refusals_total', { reason: 'rate' })).toBe(1);
  expect([...(metrics.get('dragoman_limit_used_ratio')?.values.keys() ?? [])]).toHaveLength(2);
  expect(valueOf(metrics, 'dragoman_request_errors_total', { error_type: 'rate_limited' })).toBe(1);
});

test('a stream is running until it ends', async () => {
  const slow = await startSlow();
  undo.push(() => slow.stop());
  const gateway = await start({
    providers: { slow: { api_key: 'sk-test', protocols: { 'openai-chat': slow.base } } },
  });
  const stream = await gateway.post('/chat/completions', chat('slow/m', { stream: true }));
  await eventually(
    'it streams',
    async () => valueOf(await scrape(gateway), 'dragoman_streams_running') === 1,
  );
  expect(valueOf(await scrape(gateway), 'dragoman_requests_running')).toBe(1);
  slow.go();
  await stream.text();
  await eventually('it ends', async () => valueOf(await scrape(gateway), 'dragoman_streams_running') === 0);
});

test('at the gateway itself metrics are for administrators', async () => {
  const gateway = await start({ metrics: {}, server: { admin_key: 'sk-admin-0123456789' } });
  expect(gateway.metricsOrigin).toBeNull();
  const get = (key?: string): Promise<Response> =>
    fetch(`${gateway.origin}/metrics`, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });
  expect((await get()).status).toBe(401);
  expect((await get(gateway.key)).status).toBe(403);
  expect(readMetrics(await (await get('sk-admin-0123456789')).text()).size).toBe(Object.keys(METRICS).length);
});

test('model names that clients make up are one series', () => {
  const metrics = new RequestMetrics((name) => (name === 'a/listed' ? name : null));
  for (let count = 0; count < 5000; count++)
    metrics.finished(finishedRequest({ model: `a/made-up-${count}` }));
  metrics.finished(finishedRequest({ model: 'a/listed' }));
  const reported = [...metrics.readings.requests()];
  expect(reported.map(({ labels, value }) => [labels.model, value])).toEqual([
    ['other', 5000],
    ['a/listed', 1],
  ]);
  expect([...metrics.readings.attempts()].map(({ labels }) => labels.model)).toEqual(['other', 'a/listed']);
});

test('keys beyond the first thousand are one series', () => {
  const metrics = new RequestMetrics(() => null);
  for (let count = 0; count < 1500; count++)
    metrics.finished(finishedRequest({ keyName: `key ${count}`, usd: 0.000_000_25 }));
  const reported = [...metrics.readings.keyCost()];
  expect(reported.length).toBe(1001);
  expect(reported.at(-1)).toEqual({ labels: { project: 'other', key: 'other' }, value: 0.000_125 });
});
