// Keys, through their port, in every database.
import { expect, test } from 'bun:test';
import type { StoredKey, StoredProject } from '../../../src/accounts/ports/index.ts';
import { someEntry } from '../../support/storage/audit-entries.ts';
import { entry, KEY } from './samples.ts';
import { describeDatabases } from './databases.ts';

describeDatabases((fresh) => {
  test('keys are kept, listed and revoked once', async () => {
    await using storage = await (await fresh())();
    await storage.keys.insert(KEY, someEntry());
    const second = {
      ...KEY,
      id: 'key_2',
      hash: 'bb',
      createdAt: 2,
      expiresAt: 9,
      models: null,
      logContent: false,
      routing: null,
      strict: null,
      onDisconnect: 'continue',
    } as const;
    await storage.keys.insert(second, someEntry());
    const all = { limit: 9, order: 'asc' } as const;
    expect((await storage.keys.list(all)).keys).toEqual([KEY, second]);
    const revoked = await storage.keys.update('key_1', { revokedAt: 5 }, { atMs: 5 }, someEntry);
    expect(revoked).toEqual({ ...KEY, revokedAt: 5, updatedAt: 5, version: KEY.version + 1 });
    expect(await storage.keys.update('key_0', { revokedAt: 6 }, { atMs: 6 }, someEntry)).toBeNull();
    expect(await storage.keys.find('key_1')).toEqual(revoked);
  });

  test('if several keys with a unique name are created at once, one succeeds', async () => {
    const open = await fresh();
    const all = [await open(), await open(), await open()];
    const made = await Promise.all(
      all.map(({ keys }, at) =>
        keys.insert(
          { ...KEY, id: `key_${at}`, hash: `h${at}` },
          entry(at),
          (namesakes) => namesakes.length === 0,
        ),
      ),
    );
    expect(made.filter(Boolean)).toEqual([true]);
    const stored = await all[0]?.keys.list({ limit: 9, order: 'asc' });
    expect(stored?.keys.map(({ id }) => id)).toEqual([`key_${made.indexOf(true)}`]);
    // Nothing is in the log of what was not made.
    const { entries } = (await all[0]?.audit.list({ limit: 9 })) ?? { entries: [] };
    expect(entries.map(({ target }) => target)).toEqual([`key_${made.indexOf(true)}`]);
    await Promise.all(all.map((storage) => storage.close()));
  });

  test('the mark of the keys grows with writes of this and of another connection', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    const start = await one.keys.mark();
    expect(await one.keys.mark()).toBe(start);
    await one.keys.insert(KEY, someEntry());
    await one.keys.insert({ ...KEY, id: 'key_2', hash: 'cc' }, someEntry());
    const own = await one.keys.mark();
    expect(own).toBeGreaterThan(start);
    expect((await one.keys.changedSince(start)).map(({ id }) => id)).toEqual(['key_1', 'key_2']);
    await two.keys.update('key_1', { revokedAt: 7 }, { atMs: 7 }, someEntry);
    expect(await one.keys.mark()).toBeGreaterThan(own);
    expect((await one.keys.changedSince(own)).map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
      ['key_1', 7],
    ]);
    await one.close();
    await two.close();
  });

  test('every member of a key or a project is read as it was written', async () => {
    await using storage = await (await fresh())();
    const entries = [{ tokens: 5, per: 'minute', models: ['a/*'], each: 'end_user' }] as const;
    const key: StoredKey = {
      id: 'key_1',
      name: 'n',
      hash: 'aa',
      hint: '…',
      createdAt: 1,
      updatedAt: 2,
      version: 3,
      expiresAt: 4,
      revokedAt: 5,
      models: ['a'],
      logContent: true,
      strict: false,
      onDisconnect: 'continue',
      routing: { only: ['a'] },
      projectId: 'p',
      roles: ['admin', 'models'],
      limits: entries,
      budgets: [{ usd: 0.5, per: 'day', timezone: 'Europe/Berlin', when_spent: 'finish', unpriced: 'allow' }],
      previous: { hash: 'bb', until: 6 },
    };
    await storage.keys.insert(key, someEntry());
    expect(await storage.keys.find('key_1')).toEqual(key);
    expect(await storage.keys.named('n')).toEqual([key]);
    const { id: _, projectId, createdAt, updatedAt, version, ...rest } = key;
    const emptied = {
      models: null,
      strict: null,
      onDisconnect: 'continue',
      routing: null,
      limits: [],
      budgets: [],
      previous: null,
      expiresAt: null,
    };
    expect(
      await storage.keys.update('key_1', { ...rest, ...emptied, roles: ['models'] }, { atMs: 9 }, someEntry),
    ).toEqual({
      ...key,
      ...emptied,
      roles: ['models'],
      updatedAt: 9,
      version: version + 1,
    });
    const project: StoredProject = {
      id: projectId ?? '',
      createdAt,
      updatedAt,
      archivedAt: 7,
      limits: entries,
      budgets: [],
      version: 2,
    };
    expect(await storage.projects.insert(project, someEntry())).toBe(true);
    expect(await storage.projects.insert({ ...project, archivedAt: null }, someEntry())).toBe(false);
    expect(await storage.projects.find(project.id)).toEqual(project);
  });

  test('keys are read all, some at a time, and none is missed while others change', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    let mark = await two.keys.mark();
    const seen = new Set<string>();
    const look = async (): Promise<void> => {
      const next = await two.keys.mark();
      for (const { id, version } of await two.keys.changedSince(mark)) seen.add(`${id} ${version}`);
      mark = next;
    };
    const made = Array.from({ length: 20 }, async (_, n) => {
      await one.keys.insert({ ...KEY, id: `key_${n}`, hash: `h${n}`, version: 1 }, someEntry());
      await one.keys.update(`key_${n}`, { revokedAt: n }, { atMs: n }, someEntry);
    });
    for (let round = 0; round < 10; round++) await look();
    await Promise.all(made);
    await look();
    for (let n = 0; n < 20; n++) expect([...seen]).toContain(`key_${n} 2`);
    let all = 0;
    for await (const some of two.keys.all()) all += some.length;
    expect(all).toBe(20);
    expect((await two.keys.list({ limit: 3, order: 'asc', projectId: 'search' })).hasMore).toBe(true);
    expect((await two.keys.list({ limit: 3, order: 'asc', isRevoked: false })).keys).toEqual([]);
    const named = await two.keys.list({ limit: 3, order: 'asc', ids: ['key_7', 'key_3', 'key_none'] });
    expect(named.keys.map(({ id }) => id).toSorted()).toEqual(['key_3', 'key_7']);
    const found = async (search: string): Promise<number> =>
      (await two.keys.list({ limit: 20, order: 'asc', search })).keys.length;
    expect(await Promise.all([found('EY_1'), found('y_12'), found('EY%1'), found('\\')])).toEqual([
      11, 1, 0, 0,
    ]);
    await one.close();
    await two.close();
  });
});
