// Work that outlives connections, as admins see and change it: by the management API, by the command, and in metrics.
import { afterAll, expect, test } from 'bun:test';
import { eventually, eventuallyFound, freshFolder, runProgram } from '../../../support/program.ts';
import { ADMIN_KEY, startManaged } from '../../../support/management/scene.ts';

const gateway = await startManaged();
afterAll(() => gateway.close());

const jobsOf = (body: Record<string, unknown>) => body['data'] as Record<string, unknown>[];

/** Asks for an answer in the background, and waits until its job is in a state. */
async function made(model: string, state: string): Promise<string> {
  const answer = await gateway.post('/responses', { model, input: 'Hello', background: true });
  const { id } = (await answer.json()) as { id: string };
  await eventually(
    `the job is ${state}`,
    async () => (await gateway.manage('GET', `/jobs/${id}`)).body['state'] === state,
  );
  return id;
}

test('jobs are listed, shown, counted, cancelled and retried, and the audit log names the actor', async () => {
  const failed = await made('sim/error-400', 'failed');
  const running = await made('sim/stall', 'running');
  const record = failed.replace('resp_', '');
  const all = await gateway.manage('GET', '/jobs');
  expect(jobsOf(all.body).map(({ id }) => id)).toEqual([running, failed]);
  expect(all.body).toMatchObject({ object: 'list', first_id: running, last_id: failed, has_more: false });
  const { body: page } = await gateway.manage('GET', `/jobs?limit=1&after=${running}`);
  expect(jobsOf(page)).toMatchObject([
    {
      object: 'job',
      kind: 'response',
      state: 'failed',
      attempt: 1,
      key_name: 'test',
      model: 'sim/error-400',
      generation: record,
      error: { code: 'invalid_prompt' },
    },
  ]);
  expect((await gateway.manage('GET', `/generations/${record}`)).body).toMatchObject({ id: record });
  const open = await gateway.manage('GET', '/jobs?state=queued,waiting,running');
  expect(jobsOf(open.body)).toMatchObject([
    { id: running, model: 'sim/stall', event_type: null, generation: null },
  ]);
  expect((await gateway.manage('GET', '/jobs?state=done')).status).toBe(400);
  expect(jobsOf((await gateway.manage('GET', '/jobs?project=nobody')).body)).toEqual([]);
  expect(jobsOf((await gateway.manage('GET', '/jobs/counts')).body)).toMatchObject([
    { kind: 'response', state: 'failed', jobs: 1 },
    { kind: 'response', state: 'running', jobs: 1 },
  ]);
  expect((await gateway.manage('POST', `/jobs/${running}/retry`)).status).toBe(409);
  const cancelled = await gateway.manage('POST', `/jobs/${running}/cancel`);
  expect(cancelled.body).toMatchObject({ id: running, state: 'cancelled' });
  expect(await gateway.manage('POST', `/jobs/${failed}/retry`)).toMatchObject({ status: 200 });
  const { body: audit } = await gateway.manage('GET', '/audit?action=job.cancel');
  expect(jobsOf(audit)).toMatchObject([
    { target: running, before: { state: 'running' }, after: { state: 'cancelled' } },
  ]);
  for (const [method, path] of [
    ['GET', '/jobs/nothing'],
    ['POST', '/jobs/nothing/cancel'],
  ] as const)
    expect((await gateway.manage(method, path)).status).toBe(404);
});

test('a background response is one request in lists and sums, regardless of its wait', async () => {
  const id = await made('sim/chat', 'completed');
  const record = id.replace('resp_', '');
  const { body: list } = await gateway.manage('GET', '/generations?model=sim/chat');
  expect(jobsOf(list)).toMatchObject([{ id: record, state: 'ok' }]);
  const { body: usage } = await gateway.manage('GET', '/usage?model=sim/chat');
  expect(jobsOf(usage)).toMatchObject([{ requests: 1, attempts: 1 }]);
});

test('the command lists them, and ends one', async () => {
  const id = await made('sim/stall', 'running');
  const at = freshFolder();
  try {
    const run = (...words: string[]) =>
      runProgram(['jobs', ...words, '--url', gateway.origin, '--data-dir', gateway.dataDir], at);
    const listed = await run('list', '--state', 'running');
    expect([listed.code, listed.out]).toEqual([0, expect.stringContaining(id)]);
    const ended = await run('cancel', id, '--json');
    expect([ended.code, JSON.parse(ended.out)]).toMatchObject([0, { id, state: 'cancelled' }]);
    expect((await run('list', '--state', 'running')).out).toBe('No jobs found.\n');
    expect((await run('show')).code).not.toBe(0);
  } finally {
    at.remove();
  }
});

test('metrics contain the number of jobs', async () => {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const read = async (): Promise<string> => (await fetch(`${gateway.origin}/metrics`, { headers })).text();
  await read();
  const text = await eventuallyFound('there are counts of jobs', read, (found) =>
    /dragoman_jobs\{kind="response",job_state="cancelled"\} \d/.test(found),
  );
  expect(text).toContain('dragoman_jobs_running 0');
  expect(text).toMatch(/dragoman_kept_streams \d/);
});
