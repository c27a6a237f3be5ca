// The audit log: every change is in it, with who made it, and nothing is in it for ever.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ROUTES } from '../../src/management/routes/index.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import type { AuditEntry } from '../../src/storage/ports.ts';
import { freshFolder, runProgram } from '../program.ts';
import { rejection } from '../rejection.ts';
import { ADMIN_KEY, type ManagedGateway, startManaged } from './scene.ts';

let gateway: ManagedGateway;

beforeAll(async () => {
  gateway = await startManaged();
});
afterAll(() => gateway.close());

const entries = (body: Record<string, unknown>) => body['data'] as Record<string, unknown>[];

test('a change is told with who made it, from where, when, and what was before and after', async () => {
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

test('what a command changes is in it, too', async () => {
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

test('what changes nothing is not in it', async () => {
  const before = entries((await gateway.manage('GET', '/audit')).body).length;
  await gateway.manage('POST', '/config/check', { config: '' });
  await gateway.manage('POST', '/providers/nobody/breaker', { state: 'open' });
  await gateway.manage('POST', '/providers/sim/breaker', { state: 'ajar' });
  expect(entries((await gateway.manage('GET', '/audit')).body)).toHaveLength(before);
  expect(ROUTES.some(({ path, method }) => path === '/audit' && method !== 'get')).toBe(false);
});

const entry = (n: number): AuditEntry => ({
  id: `audit_${n}`,
  createdAt: n,
  actor: { id: n % 2 ? 'key_a' : 'key_b', name: 'somebody', address: null },
  action: 'key.create',
  target: `key_${n}`,
  requestId: null,
  before: null,
  after: { n },
});

test('it is read newest first, in pages in both directions, and purged from its oldest end', async () => {
  const storage = await openSqliteStorage({ path: ':memory:' });
  const { audit } = storage;
  for (let n = 1; n <= 5; n++) await audit.append(entry(n));
  const numbers = async (query: Parameters<typeof audit.list>[0]) => {
    const page = await audit.list(query);
    return [...page.entries.map(({ createdAt }) => createdAt), page.hasMore];
  };
  expect(await numbers({ limit: 2 })).toEqual([5, 4, true]);
  expect(await numbers({ limit: 2, after: 'audit_4' })).toEqual([3, 2, true]);
  expect(await numbers({ limit: 2, after: 'audit_2' })).toEqual([1, false]);
  expect(await numbers({ limit: 2, before: 'audit_2' })).toEqual([4, 3, true]);
  expect(await numbers({ limit: 9, before: 'audit_2' })).toEqual([5, 4, 3, false]);
  expect(await numbers({ limit: 9, actor: 'key_a' })).toEqual([5, 3, 1, false]);
  expect(await numbers({ limit: 9, from: 2, to: 4 })).toEqual([3, 2, false]);
  expect(await audit.list({ limit: 1, target: 'key_3' })).toEqual({ entries: [entry(3)], hasMore: false });
  expect(await rejection(audit.list({ limit: 1, after: 'audit_9' }))).toMatchObject({ param: 'after' });
  expect(await audit.purge(3)).toBe(2);
  expect(await audit.purge(3)).toBe(0);
  expect(await numbers({ limit: 9 })).toEqual([5, 4, 3, false]);
  await storage.close();
});
