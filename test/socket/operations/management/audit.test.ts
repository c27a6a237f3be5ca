// The audit log: every change is in it, with who made it, and nothing is in it for ever.
import { afterAll, expect, test } from 'bun:test';
import { ROUTES } from '../../../../src/operations/management/routes/index.ts';
import { freshFolder, runProgram } from '../../../support/program.ts';
import { ADMIN_KEY, startManaged } from '../../../support/management/scene.ts';

const gateway = await startManaged();
afterAll(() => gateway.close());

const entries = (body: Record<string, unknown>) => body['data'] as Record<string, unknown>[];

test('a change is recorded with its author, origin, time, and the states before and after', async () => {
  const from = new Date(Date.now() - 1000).toISOString();
  const changed = await gateway.manage('POST', '/providers/sim/breaker', {
    state: 'open',
    model: 'sim/chat',
  });
  const { body } = await gateway.manage('GET', `/audit?target=sim&from=${from}`);
  expect(entries(body)).toMatchObject([
    {
      actor: { id: 'key_admin', name: 'admin', address: '127.0.0.1' },
      action: 'provider.breaker.open',
      target: 'sim',
      request_id: changed.headers.get('x-request-id'),
      before: { open: [] },
      after: { open: ['sim/chat at sim'] },
    },
  ]);
  expect(JSON.stringify(body)).not.toContain(ADMIN_KEY);
  expect(entries((await gateway.manage('GET', '/audit?action=key.create')).body)).toEqual([]);
  expect(entries((await gateway.manage('GET', `/audit?to=${from}`)).body)).toEqual([]);
  expect(entries((await gateway.manage('GET', '/audit?actor=key_admin&from=1')).body)).toHaveLength(1);
  expect((await gateway.manage('GET', '/audit?from=yesterday')).body).toMatchObject({
    error: { param: 'from' },
  });
});

test('changes by commands are recorded, too', async () => {
  const at = freshFolder();
  try {
    const made = await runProgram(['keys', 'create', 'by-command', '--data-dir', gateway.dataDir], at);
    expect(made.code).toBe(0);
    const { body } = await gateway.manage('GET', '/audit?actor=operator');
    expect(entries(body)).toMatchObject([
      {
        actor: { id: 'operator', address: null },
        action: 'key.create',
        request_id: null,
        after: { name: 'by-command' },
      },
    ]);
    expect(JSON.stringify(body)).not.toContain(made.out.trim());
  } finally {
    at.remove();
  }
});

test('a request that changes nothing is not recorded', async () => {
  const before = entries((await gateway.manage('GET', '/audit')).body).length;
  await gateway.manage('POST', '/config/check', { config: '' });
  await gateway.manage('POST', '/providers/nobody/breaker', { state: 'open' });
  await gateway.manage('POST', '/providers/sim/breaker', { state: 'ajar' });
  expect(entries((await gateway.manage('GET', '/audit')).body)).toHaveLength(before);
  expect(ROUTES.some(({ path, method }) => path === '/audit' && method !== 'get')).toBe(false);
});
