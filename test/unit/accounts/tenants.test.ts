// Keys and projects: what may be changed of them, what the index knows of it, and what the stores give.
import { describe, expect, test } from 'bun:test';
import {
  type ConfiguredTenants,
  KeyCommands,
  hashKey,
  KeyIndex,
  ProjectCommands,
  withRole,
} from '../../../src/accounts/auth/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { openSqlite } from '../../../src/base/runtime/sqlite.ts';
import { rejection } from '../../support/rejection.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';
import { entryOf } from '../../support/storage/audit-entries.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const FILE: ConfiguredTenants = {
  keys: [{ name: 'ci', key: 'sk-test-ci', project: 'search', budgets: [{ usd: 5, per: 'day' }] }],
  projects: { search: { limits: [{ concurrent: 9 }], budgets: [] } },
  adminKey: 'sk-test-root-0123456789',
};

async function scene(file: ConfiguredTenants = { keys: [] }) {
  const storage = await openSqliteStorage({ path: ':memory:' });
  const pepper = await storage.secret('pepper');
  const reported: string[] = [];
  const index = new KeyIndex({
    storage,
    pepper,
    configured: file,
    onChange: (changed) => reported.push(...changed.map(({ kind, name }) => `${kind} ${name}`)),
  });
  await index.refresh();
  const clock = { now: NOW };
  const tenants = { storage, pepper, configured: () => file, now: () => clock.now, entryOf };
  const who = (key: string, atMs = clock.now) => index.authenticate(key, atMs);
  return {
    storage,
    index,
    clock,
    who,
    reported,
    keys: new KeyCommands(tenants),
    projects: new ProjectCommands(tenants),
  };
}

function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
}

describe('rotation', () => {
  test('the previous secret is valid only during the grace period; the key is the same', async () => {
    const { keys, index, who, clock } = await scene();
    const first = await keys.create({ name: 'laptop' });
    clock.now += 5;
    const second = await keys.rotate('laptop', HOUR);
    expect(second.record).toMatchObject({ id: first.record.id, version: 2, previousUntil: NOW + 5 + HOUR });
    expect(second.record.hint).not.toBe(first.record.hint);
    await index.refresh();
    for (const key of [first.key, second.key]) expect(who(key).keyId).toBe(first.record.id);
    expect(who(first.key, NOW + 4 + HOUR).keyId).toBe(first.record.id);
    expect(reasonOf(() => who(first.key, NOW + 5 + HOUR))).toContain('has been rotated');
    expect(who(second.key, NOW + 5 + HOUR).keyId).toBe(first.record.id);
  });

  test('without a grace period, and after a second rotation, the earlier secrets are invalid', async () => {
    const { keys, index, who } = await scene();
    const first = await keys.create({ name: 'laptop' });
    const second = await keys.rotate('laptop', HOUR);
    await index.refresh();
    expect(who(first.key).name).toBe('laptop');
    const third = await keys.rotate('laptop', HOUR);
    await index.refresh();
    expect(reasonOf(() => who(first.key))).toContain('is unknown');
    expect(who(second.key).name).toBe('laptop');
    const fourth = await keys.rotate('laptop', 0);
    await index.refresh();
    for (const { key } of [second, third]) expect(reasonOf(() => who(key))).toContain('is unknown');
    expect(who(fourth.key).name).toBe('laptop');
  });

  test('revoking ends both secrets', async () => {
    const { keys, index, who } = await scene();
    const first = await keys.create({ name: 'laptop' });
    const second = await keys.rotate('laptop', HOUR);
    await keys.revoke('laptop');
    await index.refresh();
    for (const { key } of [first, second]) expect(reasonOf(() => who(key))).toContain('has been revoked');
    expect(await rejection(keys.rotate('laptop', 0))).toMatchObject({ kind: 'conflict' });
  });
});

describe('projects', () => {
  test('a key belongs to its project, and a key without one is its own', async () => {
    const { keys, projects, index, who } = await scene(FILE);
    await projects.create({ name: 'shop', budgets: [{ usd: 3 }] });
    const inShop = await keys.create({
      name: 'till',
      projectId: 'shop',
      limits: [{ requests: 2 }],
      budgets: [{ usd: 1 }],
    });
    const inFile = await keys.create({ name: 'crawler', projectId: 'search' });
    const alone = await keys.create({ name: 'alone' });
    await index.refresh();
    expect(who(inShop.key)).toMatchObject({ projectId: 'shop', limits: [{ requests: 2 }, { usd: 1 }] });
    expect(who(inFile.key).projectId).toBe('search');
    expect(who(alone.key).projectId).toBe(alone.record.id);
    expect(who('sk-test-ci')).toMatchObject({ projectId: 'search', limits: [{ usd: 5, per: 'day' }] });
    expect([...index.projects.names()]).toEqual(['search', 'shop']);
    expect(index.projects.limitsOf('shop')).toEqual([{ usd: 3 }]);
    expect(index.projects.limitsOf('search')).toEqual([{ concurrent: 9 }]);
    expect(await rejection(keys.create({ name: 'x', projectId: 'nowhere' }))).toMatchObject({
      kind: 'not_found',
    });
  });

  test('keys of an archived project are refused until it is restored', async () => {
    const { keys, projects, index, who } = await scene();
    await projects.create({ name: 'shop' });
    const { key } = await keys.create({ name: 'till', projectId: 'shop' });
    expect(await projects.archive('shop')).toMatchObject({ state: 'archived', archivedAt: NOW });
    await index.refresh();
    expect(reasonOf(() => who(key))).toBe(
      'The API key "till" cannot be used: the project "shop" has been archived.',
    );
    expect(index.usableKeys(NOW)).toBe(0);
    expect(await rejection(keys.create({ name: 'x', projectId: 'shop' }))).toMatchObject({
      kind: 'conflict',
    });
    await projects.restore('shop');
    await index.refresh();
    expect(who(key).projectId).toBe('shop');
  });

  test('the file overrides the database, and keys of a project that it no longer defines are refused', async () => {
    const { keys, index, who } = await scene(FILE);
    const { key } = await keys.create({ name: 'crawler', projectId: 'search' });
    await index.refresh();
    expect(who(key).projectId).toBe('search');
    index.configure({ keys: [] });
    expect(reasonOf(() => who(key))).toContain('"search" no longer exists');
  });

  test('names are given once, and follow the rule', async () => {
    const { projects } = await scene(FILE);
    await projects.create({ name: 'shop' });
    await projects.archive('shop');
    for (const name of ['shop', 'search'])
      expect(await rejection(projects.create({ name }))).toMatchObject({ kind: 'conflict', param: 'name' });
    for (const name of ['', '.a', '-a', 'key_a', 'a b', 'ä', 'x'.repeat(65)])
      expect(await rejection(projects.create({ name }))).toMatchObject({
        kind: 'invalid_request',
        param: 'name',
      });
    for (const name of ['a', '0', 'Team.a_b-c', 'x'.repeat(64)])
      expect((await projects.create({ name })).id).toBe(name);
  });
});

describe('what the configuration file defines', () => {
  test('the administrator’s key has that role alone', async () => {
    const { who } = await scene(FILE);
    const admin = who('sk-test-root-0123456789');
    expect(admin).toMatchObject({ keyId: 'key_admin', projectId: 'key_admin', roles: ['admin'] });
    expect(withRole(admin, 'admin')).toBe(admin);
    expect(reasonOf(() => withRole(admin, 'models'))).toContain('cannot call models');
    expect(reasonOf(() => withRole(who('sk-test-ci'), 'admin'))).toContain('cannot manage this gateway');
  });
});

describe('changes', () => {
  test('modify only the given members', async () => {
    const { keys, clock } = await scene();
    const { record } = await keys.create({ name: 'laptop', models: ['a/*'], limits: [{ requests: 2 }] });
    clock.now += 7;
    const changed = await keys.change('laptop', { name: ' desk ', budgets: [{ usd: 1 }], roles: ['admin'] });
    expect(changed).toEqual({
      ...record,
      name: 'desk',
      budgets: [{ usd: 1 }],
      roles: ['admin'],
      updatedAt: NOW + 7,
      version: 2,
    });
    expect(await keys.change('desk', { models: null, limits: [], expiresAt: NOW + HOUR })).toMatchObject({
      models: null,
      limits: [],
      expiresAt: NOW + HOUR,
      budgets: [{ usd: 1 }],
    });
  });

  test('of another version than the one that was read are refused', async () => {
    const { keys, projects } = await scene();
    await keys.create({ name: 'laptop' });
    await keys.change('laptop', { strict: true }, { ifVersion: 1 });
    const project = await projects.create({ name: 'shop' });
    await projects.change('shop', { limits: [{ concurrent: 1 }] }, { ifVersion: 1 });
    expect(project.version).toBe(1);
    const late = { kind: 'conflict', code: 'version_conflict' };
    expect(await rejection(keys.change('laptop', { strict: false }, { ifVersion: 1 }))).toMatchObject(late);
    expect(await rejection(keys.rotate('laptop', 0, { ifVersion: 1 }))).toMatchObject(late);
    expect(await rejection(keys.revoke('laptop', { ifVersion: 1 }))).toMatchObject(late);
    expect(await rejection(projects.archive('shop', { ifVersion: 1 }))).toMatchObject(late);
    expect(await keys.find('laptop')).toMatchObject({ strict: true, version: 2, state: 'active' });
  });

  test('of two concurrent rotations, one is refused', async () => {
    const { keys } = await scene();
    await keys.create({ name: 'laptop' });
    const both = await Promise.allSettled([keys.rotate('laptop', HOUR), keys.rotate('laptop', HOUR)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('that are invalid are refused by name', async () => {
    const { keys, projects } = await scene();
    await keys.create({ name: 'laptop' });
    await keys.create({ name: 'desk' });
    const cases = [
      [{ limits: [{ requests: 1, tokens: 1 }] }, 'limits'],
      [{ limits: [{ usd: 1 }] }, 'limits'],
      [{ limits: [{ requests: 1 }, { requests: 2 }] }, 'limits'],
      [{ budgets: [{ requests: 1 }] }, 'budgets'],
      [{ budgets: [{ usd: 1, per: 'fortnight' }] }, 'budgets'],
    ] as const;
    for (const [settings, param] of cases) {
      expect(await rejection(keys.change('laptop', settings))).toMatchObject({
        kind: 'invalid_request',
        param,
      });
      expect(await rejection(projects.create({ name: 'p', ...settings }))).toMatchObject({ param });
    }
    expect(await rejection(keys.change('laptop', { roles: [] }))).toMatchObject({ param: 'roles' });
    expect(await rejection(keys.change('laptop', { expiresAt: NOW }))).toMatchObject({ param: 'expires_at' });
    expect(await rejection(keys.change('laptop', { name: 'desk' }))).toMatchObject({ kind: 'conflict' });
    expect(await rejection(keys.rotate('laptop', -1))).toMatchObject({ param: 'grace' });
    expect(await rejection(keys.find('nobody'))).toMatchObject({ kind: 'not_found' });
    expect(await rejection(projects.find('nobody'))).toMatchObject({ kind: 'not_found' });
    expect(await rejection(projects.change('nobody', {}))).toMatchObject({ kind: 'not_found' });
  });
});

describe('the index', () => {
  test('reads only changed keys, and keeps the others', async () => {
    const { keys, projects, index, who, reported, storage } = await scene();
    const one = await keys.create({ name: 'one' });
    const two = await keys.create({ name: 'two' });
    await index.refresh();
    const before = [who(one.key), who(two.key)];
    storage.keys.all = () => {
      throw new Error('everything was read again');
    };
    reported.length = 0;
    expect(await index.refresh()).toBe(false);
    await keys.change('two', { limits: [{ requests: 1 }] });
    await projects.create({ name: 'shop' });
    expect(await index.refresh()).toBe(true);
    expect(reported).toEqual(['project shop', 'key two']);
    expect(index.limitsOf(who(two.key).keyId)).toEqual([{ requests: 1 }]);
    expect(who(one.key)).toBe(before[0] as never);
    expect(who(two.key)).not.toBe(before[1] as never);
    expect([...index.principals()].map(({ name, limits }) => [name, limits.length])).toEqual([
      ['one', 0],
      ['two', 1],
    ]);
  });
});

test('changes by another program are noticed by a running gateway', async () => {
  const path = freshPath();
  const storage = await openSqliteStorage({ path });
  const pepper = await storage.secret('pepper');
  const index = new KeyIndex({ storage, pepper, configured: { keys: [] } });
  await index.refresh();
  const older = openSqlite(path);
  const hash = hashKey('sk-test-older', pepper);
  older
    .prepare(
      "insert into keys (id, name, hash, hint, created_at, updated_at, version) values ('key_1', 'older', ?, '…', 1, 1, 1)",
    )
    .run(hash);
  await index.refresh();
  expect(index.authenticate('sk-test-older', NOW)).toMatchObject({ projectId: 'key_1', roles: ['models'] });
  older.exec("update keys set revoked_at = 5 where id = 'key_1'");
  await index.refresh();
  expect(reasonOf(() => index.authenticate('sk-test-older', NOW))).toContain('has been revoked');
  older.close();
  await storage.close();
});

describe('the stores', () => {
  test('keys are listed in pages, either way, and by project and state', async () => {
    const { storage, keys, projects } = await scene();
    await projects.create({ name: 'shop' });
    // Several of one millisecond: the order is still one.
    for (let n = 0; n < 7; n++) await keys.create({ name: `k${n}`, projectId: n % 2 ? 'shop' : null });
    await keys.revoke('k3');
    const all = await idsOf('asc', 100);
    expect(all).toHaveLength(7);
    expect(await idsOf('asc', 3)).toEqual(all);
    expect(await idsOf('desc', 2)).toEqual(all.toReversed());
    const shop = await storage.keys.list({ limit: 9, order: 'asc', projectId: 'shop' });
    expect(shop.keys.map(({ name }) => name).toSorted()).toEqual(['k1', 'k3', 'k5']);
    const revoked = await storage.keys.list({ limit: 9, order: 'asc', isRevoked: true });
    expect(revoked.keys.map(({ name }) => name)).toEqual(['k3']);
    const unknown = storage.keys.list({ limit: 9, order: 'asc', after: 'key_none' });
    expect(await rejection(unknown)).toMatchObject({ kind: 'invalid_request', param: 'after' });

    async function idsOf(order: 'asc' | 'desc', limit: number): Promise<string[]> {
      const ids: string[] = [];
      for (let after: string | undefined; ; after = ids.at(-1)) {
        const page = await storage.keys.list({ after, limit, order });
        expect(page.keys.length).toBeLessThanOrEqual(limit);
        ids.push(...page.keys.map(({ id }) => id));
        if (!page.hasMore) return ids;
      }
    }
  });
});
