// Batches of all projects, as admins see and end them by the management API.
import { afterAll, expect, test } from 'bun:test';
import { TEST_KEY } from '../../../support/harness.ts';
import { madeBatch } from '../../../support/made-batch.ts';
import { eventually } from '../../../support/program.ts';
import { startManaged } from '../../../support/management/scene.ts';

const OTHER_KEY = 'sk-test-of-another-project';
const OUTAGE_MS = 60_000;

const gateway = await startManaged({
  batches: { max_delay_ms: 0 },
  projects: { search: {} },
  keys: [
    { name: 'test', key: TEST_KEY },
    { name: 'other', key: OTHER_KEY, project: 'search' },
  ],
});
afterAll(() => gateway.close());

type Body = Record<string, unknown>;
const rowsOf = (body: Body) => body['data'] as Body[];

async function reached(id: string, status: string): Promise<Body> {
  let body: Body = {};
  await eventually(
    `a batch that is ${status}`,
    async () => {
      ({ body } = await gateway.manage('GET', `/batches/${id}`));
      return body['status'] === status;
    },
    OUTAGE_MS,
  );
  return body;
}

test('batches are listed and shown with lines, cost and failures, each with its request', async () => {
  const id = await madeBatch(gateway, ['sim/chat', 'sim/error-400', 'nobody/knows', 'sim/chat']);
  const other = await madeBatch(gateway, ['sim/echo'], OTHER_KEY);
  const batch = await reached(id, 'completed');
  await reached(other, 'completed');
  expect(batch).toMatchObject({
    object: 'batch',
    protocol: 'openai-chat',
    outcome: 'completed',
    key_name: 'test',
    lines: { total: 4, done: 4, succeeded: 2, failed: 2, expired: 0, cancelled: 0 },
    problems: [{ code: 'model_not_found', line: 3 }],
    waits_for: null,
  });
  expect(batch['cost_usd']).toBeNumber();
  const { body: all } = await gateway.manage('GET', '/batches');
  expect(rowsOf(all).map((each) => each['id'])).toEqual([other, id]);
  const { body: ofProject } = await gateway.manage('GET', '/batches?project=search');
  expect(rowsOf(ofProject)).toMatchObject([{ id: other, project: 'search', key_name: 'other' }]);
  const { body: page } = await gateway.manage('GET', `/batches?limit=1&after=${other}&status=completed`);
  expect(page).toMatchObject({ first_id: id, last_id: id, has_more: false });
  expect(rowsOf((await gateway.manage('GET', '/batches?status=in_progress')).body)).toEqual([]);
  expect((await gateway.manage('GET', '/batches/counts')).body['data']).toEqual([
    { status: 'completed', batches: 2 },
  ]);

  const { body: failures } = await gateway.manage('GET', `/batches/${id}/failures`);
  expect(rowsOf(failures)).toMatchObject([
    { line: 2, custom_id: 'line-2', status: 400 },
    { line: 3, custom_id: 'line-3', generation: null, status: null, code: 'model_not_found' },
  ]);
  const { body: last } = await gateway.manage('GET', `/batches/${id}/failures?limit=1&after=2`);
  expect(last).toMatchObject({ first_id: '3', has_more: false });
  const record = String(rowsOf(failures)[0]?.['generation']);
  const request = await gateway.manage('GET', `/generations/${record}`);
  expect(request.body).toMatchObject({ id: record, status: 400 });
});

test('a running batch is cancelled, and the audit log names the actor', async () => {
  const id = await madeBatch(gateway, ['sim/stall', 'sim/stall']);
  await reached(id, 'in_progress');
  const cancelled = await gateway.manage('POST', `/batches/${id}/cancel`);
  expect(cancelled.body).toMatchObject({ id, status: 'cancelling' });
  expect(cancelled.body['cancel_requested_at']).toBeString();
  const { body: audit } = await gateway.manage('GET', '/audit?action=batch.cancel');
  expect(rowsOf(audit)).toMatchObject([
    { target: id, before: { status: 'in_progress' }, after: { status: 'cancelling' } },
  ]);
});

test('unknown batches and invalid requests are refused', async () => {
  for (const [method, path] of [
    ['GET', '/batches/nothing'],
    ['GET', '/batches/nothing/failures'],
    ['POST', '/batches/nothing/cancel'],
  ] as const)
    expect((await gateway.manage(method, path)).status).toBe(404);
  for (const query of ['status=done', 'after=nothing', 'limit=0'])
    expect((await gateway.manage('GET', `/batches?${query}`)).status).toBe(400);
  const denied = await fetch(`${gateway.origin}/v1/management/batches`, {
    headers: { authorization: `Bearer ${OTHER_KEY}` },
  });
  expect(denied.status).toBe(403);
});

test('a key of another project finds no batch, and cancels none', async () => {
  const id = await madeBatch(gateway, ['sim/chat']);
  for (const [method, path] of [
    ['GET', `/batches/${id}`],
    ['POST', `/batches/${id}/cancel`],
  ] as const) {
    const answer = await fetch(`${gateway.origin}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${OTHER_KEY}` },
    });
    expect(answer.status).toBe(404);
  }
  expect(await reached(id, 'completed')).toMatchObject({ cancel_requested_at: null });
});
