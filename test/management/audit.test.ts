// The audit log: every change is in it, with who made it, and nothing is in it for ever.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ROUTES } from '../../src/management/routes/index.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import type { AuditEntry, StoredKey } from '../../src/storage/ports.ts';
import { freshFolder, runProgram } from '../program.ts';
import { rejection } from '../rejection.ts';
import { freshPath } from '../storage-directory.ts';
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

const KEY: StoredKey = {
  id: 'key_1',
  name: 'first',
  hash: 'aa',
  hint: 'sk-…1',
  createdAt: 1,
  updatedAt: 1,
  version: 1,
  revokedAt: null,
  previous: null,
  projectId: null,
  expiresAt: null,
  models: null,
  logContent: false,
  strict: null,
  routing: null,
  roles: ['models'],
  limits: [],
  budgets: [],
};

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

test('a change and its entry are there together, or neither', async () => {
  const storage = await openSqliteStorage({ path: ':memory:' });
  const { audit, keys, projects } = storage;
  const project = { createdAt: 1, updatedAt: 1, archivedAt: null, limits: [], budgets: [], version: 1 };
  expect(await projects.insert({ ...project, id: 'shop' }, entry(1))).toBe(true);
  // The log refuses an id that it has.
  await rejection(projects.insert({ ...project, id: 'garden' }, entry(1)));
  expect(await projects.find('garden')).toBeNull();
  await rejection(projects.update('shop', { archivedAt: 5 }, { atMs: 5 }, () => entry(1)));
  expect(await projects.find('shop')).toMatchObject({ archivedAt: null, version: 1 });
  await rejection(keys.insert(KEY, entry(1)));
  expect(await keys.find(KEY.id)).toBeNull();
  // What is not done is not told.
  expect(await projects.insert({ ...project, id: 'shop' }, entry(2))).toBe(false);
  expect(await projects.update('nobody', { archivedAt: 5 }, { atMs: 5 }, () => entry(3))).toBeNull();
  await rejection(projects.update('shop', { archivedAt: 5 }, { atMs: 5, ifVersion: 7 }, () => entry(4)));
  expect(await audit.list({ limit: 9 })).toEqual({ entries: [entry(1)], hasMore: false });
  await storage.close();
});

test('an entry has the thing as it was right before, whoever else changes it', async () => {
  const path = freshPath();
  const [one, two] = [await openSqliteStorage({ path }), await openSqliteStorage({ path })];
  await one.keys.insert(KEY, entry(0));
  const changes = [one, two, one, two].map((storage, at) =>
    storage.keys.update(KEY.id, { name: `name ${at}` }, { atMs: at }, (before, after) => ({
      ...entry(at + 1),
      before: { version: before.version, name: before.name },
      after: { version: after.version, name: after.name },
    })),
  );
  await Promise.all(changes);
  const { entries: all } = await one.audit.list({ limit: 9 });
  const steps = all.toReversed().slice(1);
  expect(steps.map(({ before }) => before?.['version'])).toEqual([1, 2, 3, 4]);
  for (const [at, step] of steps.entries())
    expect(step.before).toEqual(at === 0 ? { version: 1, name: KEY.name } : (steps[at - 1]?.after ?? null));
  await one.close();
  await two.close();
});
