// Keys, projects, sealed turns, the audit log, alerts and what is known of files, through their ports, in every database.
import { expect, test } from 'bun:test';
import type { AuditEntry, StoredFile, StoredKey, StoredProject } from '../src/storage/ports.ts';
import { someEntry } from './audit-entries.ts';
import { describeDatabases } from './storage-databases.ts';
import { rejection } from './rejection.ts';

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 22, 12);

const KEY: StoredKey = {
  id: 'key_1',
  name: 'laptop',
  hash: 'aa',
  hint: 'sk…1234',
  createdAt: 1,
  expiresAt: null,
  revokedAt: null,
  models: ['openai/*'],
  logContent: true,
  strict: true,
  routing: { only: ['openai'], max_price: { prompt: 3 } },
  projectId: 'search',
  roles: ['models', 'admin'],
  limits: [{ requests: 60, per: 'minute', models: ['openai/*'] }],
  budgets: [{ usd: 5, per: 'day' }],
  previous: { hash: 'bb', until: 9 },
  updatedAt: 2,
  version: 3,
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

describeDatabases((fresh) => {
  test('keys are kept, listed and revoked once', async () => {
    const storage = await (await fresh())();
    await storage.keys.insert(KEY, someEntry());
    await storage.keys.insert(
      {
        ...KEY,
        id: 'key_2',
        hash: 'bb',
        createdAt: 2,
        expiresAt: 9,
        models: null,
        logContent: false,
        routing: null,
        strict: null,
      },
      someEntry(),
    );
    const all = { limit: 9, order: 'asc' } as const;
    expect((await storage.keys.list(all)).keys).toEqual([
      KEY,
      {
        ...KEY,
        id: 'key_2',
        hash: 'bb',
        createdAt: 2,
        expiresAt: 9,
        models: null,
        logContent: false,
        routing: null,
        strict: null,
      },
    ]);
    const revoked = await storage.keys.update('key_1', { revokedAt: 5 }, { atMs: 5 }, someEntry);
    expect(revoked).toEqual({ ...KEY, revokedAt: 5, updatedAt: 5, version: KEY.version + 1 });
    expect(await storage.keys.update('key_0', { revokedAt: 6 }, { atMs: 6 }, someEntry)).toBeNull();
    expect(await storage.keys.find('key_1')).toEqual(revoked);
    await storage.close();
  });

  test('of keys that are made at the same moment, one has a name of which there may be one', async () => {
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

  test('sealed turns are found by key and call, until they expire', async () => {
    const storage = await (await fresh())();
    const { vault } = storage;
    const sealed = Uint8Array.of(0, 1, 255);
    await vault.put([
      { projectId: 'key_a', callId: 'call_1', sealed, expiresAt: 100 },
      { projectId: 'key_a', callId: 'call_2', sealed, expiresAt: 50 },
      { projectId: 'key_b', callId: 'call_3', sealed, expiresAt: 100 },
    ]);
    await vault.put([{ projectId: 'key_a', callId: 'call_1', sealed: Uint8Array.of(9), expiresAt: 100 }]);
    const found = await vault.get('key_a', ['call_1', 'call_2', 'call_3', 'call_4'], 50);
    expect([...found]).toEqual([['call_1', Uint8Array.of(9)]]);
    expect(await vault.purge(50)).toBe(1);
    expect(await vault.purge(50)).toBe(0);
    expect((await vault.get('key_b', ['call_3'], 99)).get('call_3')).toEqual(sealed);
    expect((await vault.get('key_b', [], 99)).size).toBe(0);
    await storage.close();
  });

  test('whatever is written of a key or a project is read again', async () => {
    const storage = await (await fresh())();
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
    await storage.close();
  });

  test('a project is found, listed and changed, by its version where one is named', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    const project: StoredProject = {
      id: 'search',
      createdAt: 1,
      updatedAt: 1,
      archivedAt: null,
      limits: [],
      budgets: [],
      version: 1,
    };
    const start = await two.projects.mark();
    for (const [at, id] of ['c', 'a', 'b'].entries())
      expect(await one.projects.insert({ ...project, id, createdAt: at }, someEntry())).toBe(true);
    expect((await two.projects.changedSince(start)).map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
    const mark = await two.projects.mark();
    const changed = await two.projects.update('a', { archivedAt: 9 }, { atMs: 9, ifVersion: 1 }, someEntry);
    expect(changed).toMatchObject({ archivedAt: 9, updatedAt: 9, version: 2 });
    const stale = one.projects.update('a', { archivedAt: null }, { atMs: 10, ifVersion: 1 }, someEntry);
    expect(await rejection(stale)).toMatchObject({ kind: 'conflict', code: 'version_conflict' });
    expect(await one.projects.update('none', {}, { atMs: 10, ifVersion: 1 }, someEntry)).toBeNull();
    expect((await one.projects.changedSince(mark)).map(({ id }) => id)).toEqual(['a']);
    const ids = async (page: object): Promise<string[]> =>
      (await one.projects.list({ limit: 9, order: 'asc', ...page })).projects.map(({ id }) => id);
    expect(await ids({})).toEqual(['c', 'a', 'b']);
    expect(await ids({ order: 'desc', isArchived: false })).toEqual(['b', 'c']);
    expect(await ids({ after: 'c', limit: 1 })).toEqual(['a']);
    expect(await rejection(ids({ after: 'none' }))).toMatchObject({
      kind: 'invalid_request',
      param: 'after',
    });
    await one.close();
    await two.close();
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
  test('the audit log is read newest first, in pages in both directions, and purged from its oldest end', async () => {
    const storage = await (await fresh())();
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

  test('what was told before a start is not told again', async () => {
    const storage = await (await fresh())();
    const { claim } = storage.alerts;
    const tell = (id: string, nowMs: number, quietMs: number): Promise<boolean> =>
      claim.call(storage.alerts, id, nowMs, quietMs);
    expect(await tell('budget a', NOON, Infinity)).toBe(true);
    expect(await tell('budget a', NOON + 300 * DAY, Infinity)).toBe(false);
    expect(await tell('budget b', NOON, Infinity)).toBe(true);
    expect(await tell('endpoint', NOON, 1000)).toBe(true);
    expect(await tell('endpoint', NOON + 999, 1000)).toBe(false);
    expect(await tell('endpoint', NOON + 1000, 1000)).toBe(true);
    expect(await tell('endpoint', NOON + 1999, 1000)).toBe(false);
    await storage.close();
  });
  test('a file is found by its project until it expires, listed in pages, and gives its place back', async () => {
    const open = await fresh();
    const storage = await open({ maxBytesPerKey: () => 10_000 });
    const { files, stateUsage } = storage;
    const file = (n: number, over: Partial<StoredFile> = {}): StoredFile => ({
      id: `file_${n}`,
      projectId: 'key_a',
      createdAt: n,
      expiresAt: 100,
      purpose: n % 2 === 0 ? 'vision' : 'user_data',
      filename: `größe ${n}.txt`,
      mediaType: 'text/plain',
      bytes: 1_000,
      ...over,
    });
    for (let n = 1; n <= 4; n++) await files.put(file(n));
    await files.put(file(5, { expiresAt: null }));
    expect(await files.find('key_a', 'file_1', 99)).toEqual(file(1));
    expect(await files.find('key_a', 'file_5', 9e12)).toEqual(file(5, { expiresAt: null }));
    expect(await files.find('key_a', 'file_1', 100)).toBeNull();
    expect(await files.find('key_b', 'file_1', 0)).toBeNull();
    const ids = async (page: object, nowMs = 0): Promise<unknown[]> => {
      const found = await files.list('key_a', { limit: 2, order: 'asc', ...page }, nowMs);
      return [...found.files.map(({ id }) => id), found.hasMore];
    };
    expect(await ids({})).toEqual(['file_1', 'file_2', true]);
    expect(await ids({ after: 'file_3' })).toEqual(['file_4', 'file_5', false]);
    expect(await ids({ order: 'desc', purpose: 'vision' })).toEqual(['file_4', 'file_2', false]);
    expect(await ids({}, 100)).toEqual(['file_5', false]);
    expect(await rejection(ids({ after: 'file_9' }))).toMatchObject({ param: 'after' });
    const large = file(6, { bytes: 9_000 });
    expect(await rejection(files.put(large))).toMatchObject({ kind: 'quota' });
    expect(await files.exists('file_6')).toBe(false);
    expect(await files.delete('key_b', 'file_1')).toBe(false);
    expect(await files.delete('key_a', 'file_1')).toBe(true);
    expect(await files.delete('key_a', 'file_1')).toBe(false);
    const taken: string[] = [];
    // As many at a time as a moment allows.
    for (let some = await files.takeExpired(100); some.length > 0; some = await files.takeExpired(100))
      taken.push(...some);
    expect(taken.toSorted()).toEqual(['file_2', 'file_3', 'file_4']);
    expect(await files.exists('file_5')).toBe(true);
    await files.delete('key_a', 'file_5');
    expect(await stateUsage.bytes('key_a')).toBe(0);
    await storage.close();
  });
  test('texts that no database likes come back, or are at least no error', async () => {
    const storage = await (await fresh())();
    await storage.vault.put([
      { projectId: 'key_a', callId: 'call\0\ud800', sealed: Uint8Array.of(1), expiresAt: 9 },
      { projectId: 'key_a', callId: 'twice', sealed: Uint8Array.of(1), expiresAt: 9 },
      { projectId: 'key_a', callId: 'twice', sealed: Uint8Array.of(2), expiresAt: 9 },
    ]);
    expect((await storage.vault.get('key_a', ['twice', 'call\0'], 0)).get('twice')).toEqual(Uint8Array.of(2));
    const item = { id: 'msg_\0', type: 'message', text: 'a\0b \ud800 \u2028 🦊' };
    const conversation = {
      id: 'conv_1',
      projectId: 'key_a',
      createdAt: 0,
      expiresAt: null,
      metadata: { a: 'x\0y' },
    };
    await storage.conversations.create(conversation, [item]);
    expect(await storage.conversations.all('key_a', 'conv_1', 0)).toEqual([item]);
    expect(await storage.conversations.findItem('key_a', 'conv_1', 'msg_\0')).toEqual(item);
    expect((await storage.conversations.find('key_a', 'conv_1', 0))?.metadata).toEqual({ a: 'x\0y' });
    expect(await storage.responses.find('key_a', 'resp_\0', 0)).toBeNull();
    await storage.close();
  });

  test('a change and its entry are there together, or neither', async () => {
    const storage = await (await fresh())();
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
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    await one.keys.insert({ ...KEY, version: 1 }, entry(0));
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
});
